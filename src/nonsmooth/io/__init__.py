"""Files: problems and solutions, recorded runs and checkpoints in HDF5, scenes in TOML."""

from nonsmooth.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from nonsmooth.io.problem_file import read_initial, read_problem, write_problem
from nonsmooth.io.recording import Recording
from nonsmooth.io.scene_file import Scene, read_scene
from nonsmooth.io.trajectory import RecordedContacts, RecordedFrame, Trajectory
from nonsmooth.io.writer import Writer

__all__ = [
    "Checkpoint",
    "RecordedContacts",
    "RecordedFrame",
    "Recording",
    "Scene",
    "Trajectory",
    "Writer",
    "read_checkpoint",
    "read_initial",
    "read_problem",
    "read_scene",
    "write_checkpoint",
    "write_problem",
]
