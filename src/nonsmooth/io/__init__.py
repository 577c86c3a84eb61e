"""Files: problems (own, FCLib's, Siconos'), recorded runs and checkpoints in HDF5, scenes in TOML."""

from nonsmooth.io._joint_constants import RecordedJoints
from nonsmooth.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from nonsmooth.io.fclib import FclibFile, FclibInfo, FclibState, read_fclib, write_fclib
from nonsmooth.io.problem_file import read_initial, read_problem, write_problem
from nonsmooth.io.recording import Recording
from nonsmooth.io.scene_file import Scene, read_scene
from nonsmooth.io.siconos_text import read_siconos, write_siconos
from nonsmooth.io.trajectory import RecordedContacts, RecordedFrame, RecordedReactions, Trajectory
from nonsmooth.io.writer import Writer

__all__ = [
    "Checkpoint",
    "FclibFile",
    "FclibInfo",
    "FclibState",
    "RecordedContacts",
    "RecordedFrame",
    "RecordedJoints",
    "RecordedReactions",
    "Recording",
    "Scene",
    "Trajectory",
    "Writer",
    "read_checkpoint",
    "read_fclib",
    "read_initial",
    "read_problem",
    "read_scene",
    "read_siconos",
    "write_checkpoint",
    "write_fclib",
    "write_problem",
    "write_siconos",
]
