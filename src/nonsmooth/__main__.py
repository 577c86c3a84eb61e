"""`python -m nonsmooth` is the `nonsmooth` command."""

from nonsmooth.cli import main

if __name__ == "__main__":
    main()
