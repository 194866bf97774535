"""Everybody in a vault, held in memory to find one of them by a heartbeat."""

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike
from sqlalchemy import select

from acclock.matching.cohort import Cohort
from acclock.matching.identification import Identification, Index
from acclock.matching.template import Template
from acclock.world.vault.audit import Event, parse_event
from acclock.world.vault.people import Person, open_row
from acclock.world.vault.shelf import load_everybody, load_template
from acclock.world.vault.tables import events, people
from acclock.world.vault.vault import Vault
from acclock.world.vault.visit import Visit


class Identifier:
    """An index over the people of one model. Making one is the decision to have it in memory.

    Before it answers it asks the vault for news, so that whoever was removed, by this program or
    another, is not known any more.
    """

    def __init__(self, vault: Vault, *, model: str) -> None:
        self._vault = vault
        self._model = model
        self._index = Index()
        self._names: dict[str, str] = {}
        self._seen = 0

    def __len__(self) -> int:
        self._catch_up()
        return len(self._index)

    def identify(
        self,
        embeddings: ArrayLike,
        *,
        faults: Sequence[str | None] | None = None,
        cohort: Cohort | None = None,
    ) -> Identification:
        """Name the one person whose template accepts these windows, or nobody."""
        self._catch_up()
        found = self._index.identify(embeddings, faults=faults, cohort=cohort)
        return found if found.name is None else replace(found, name=self._names[found.name])

    def _catch_up(self) -> None:
        with self._vault.reading() as visit:
            if visit.events == self._seen:
                return
            news = _read_events(visit, self._seen)
            if self._seen == 0 or any(event.kind == "restored" for event in news):
                self._index, self._names = Index(), {}
                for person, template in load_everybody(visit):
                    self._take(person, template)
            else:
                for number in {event.person for event in news if event.person is not None}:
                    self._look_again(visit, number)
            self._seen = visit.events

    def _look_again(self, visit: Visit, number: str) -> None:
        row = visit.connection.execute(select(people).where(people.c.person == number)).first()
        if row is None:
            self._index.discard(number)
            self._names.pop(number, None)
        else:
            person = open_row(visit, row)
            self._take(person, load_template(visit, person))

    def _take(self, person: Person, template: Template) -> None:
        self._index.discard(person.person)
        if person.model == self._model:
            self._index.put(person.person, template)
            self._names[person.person] = person.name


def _read_events(visit: Visit, seen: int) -> list[Event]:
    query = select(events.c.body).where(events.c.number > seen).order_by(events.c.number)
    return [parse_event(body) for body in visit.connection.execute(query).scalars()]
