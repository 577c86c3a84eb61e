"""`python -m nonsmooth` is the `nonsmooth` command."""

from nonsmooth.cli.main import main

if __name__ == "__main__":
    main()
