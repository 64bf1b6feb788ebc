"""A module of a random program, and what is known of it."""

from dataclasses import dataclass, field


@dataclass
class Module:
    """The HLO of one rank as XLA dumps it, and what is known of it."""

    name: str
    seed: int
    mesh: dict
    data: bytes
    truth: str
    fault: str = ""
    #: Whether ranks disagree on what is to be the same, or only hold other values.
    shows: str = ""
    verdict: dict = field(default_factory=dict)
