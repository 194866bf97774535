"""Whether there are people and recordings enough to learn from."""

from collections.abc import Iterator, Sequence

from acclock.training.subjects import Subject

ENOUGH_PEOPLE = 20
"""Of a data set; docs/train-on-your-data.md has the errors of models that learned from fewer."""
ENOUGH_SESSIONS = 2
"""Of a person: one to enroll with, and one after the earphone was taken out to be judged by."""


def find_shortfalls(subjects: Sequence[Subject]) -> list[str]:
    """Say what a training on these people lacks, a sentence each; nothing where it lacks nothing.

    Each data set is counted alone: simulated people do not replace those of a new earphone.
    """
    sources = sorted({subject.source for subject in subjects})
    by_source = [[one for one in subjects if one.source == source] for source in sources]
    return [sentence for people in by_source for sentence in _describe(people)]


def _describe(people: Sequence[Subject]) -> Iterator[str]:
    source, count = people[0].source, len(people)
    if count < ENOUGH_PEOPLE:
        yield (
            f"{source} has {count} people with enough windows; a model worth using needs at least"
            f" {ENOUGH_PEOPLE} (docs/train-on-your-data.md)"
        )
    once = sum(len(one.sessions) < ENOUGH_SESSIONS for one in people)
    if once:
        yield (
            f"{once} of {count} people of {source} have fewer than {ENOUGH_SESSIONS} usable"
            " recordings; within one wearing everybody is easier to recognize than on another day"
        )
