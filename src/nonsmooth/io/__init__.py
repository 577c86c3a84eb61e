"""Files: problems (own format, FCLib, Siconos), recorded runs and checkpoints in HDF5, scenes in TOML."""

from nonsmooth.io.problems.fclib import FclibFile, FclibInfo, FclibState, read_fclib, write_fclib
from nonsmooth.io.problems.formats import read_problem, read_start
from nonsmooth.io.problems.native import write_problem
from nonsmooth.io.problems.siconos import read_siconos, write_siconos
from nonsmooth.io.runs.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from nonsmooth.io.runs.joint_constants import RecordedJoints
from nonsmooth.io.runs.recording import Recording
from nonsmooth.io.runs.trajectory import RecordedFrame, RecordedReactions, Trajectory
from nonsmooth.io.runs.writer import Writer
from nonsmooth.io.scenes.scene_file import Scene, read_scene

__all__ = [
    "Checkpoint",
    "FclibFile",
    "FclibInfo",
    "FclibState",
    "RecordedFrame",
    "RecordedJoints",
    "RecordedReactions",
    "Recording",
    "Scene",
    "Trajectory",
    "Writer",
    "read_checkpoint",
    "read_fclib",
    "read_problem",
    "read_scene",
    "read_siconos",
    "read_start",
    "write_checkpoint",
    "write_fclib",
    "write_problem",
    "write_siconos",
]
