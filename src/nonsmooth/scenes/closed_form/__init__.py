"""Systems in generalised coordinates, whose motions are known in closed form or published; imported here."""

from nonsmooth.scenes.closed_form.blocks import LoadedBlock as LoadedBlock
from nonsmooth.scenes.closed_form.blocks import RockingBlock as RockingBlock
from nonsmooth.scenes.closed_form.bouncing import DroppedBall as DroppedBall
from nonsmooth.scenes.closed_form.bouncing import RollingBall as RollingBall
from nonsmooth.scenes.closed_form.bouncing import RollingDisc as RollingDisc
from nonsmooth.scenes.closed_form.slider_clearance import SliderClearance as SliderClearance
from nonsmooth.scenes.closed_form.sliding_rod import SlidingRod as SlidingRod
from nonsmooth.scenes.closed_form.stick_slip import BeltBlock as BeltBlock
from nonsmooth.scenes.closed_form.woodpecker import Woodpecker as Woodpecker
from nonsmooth.scenes.registry import MODELS as MODELS
