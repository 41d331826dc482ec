"""Refuses query parameters that a route does not have: with a misspelled filter, all would be answered."""

from __future__ import annotations

import inspect

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.requests import HTTPConnection

from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.ticket import PARAMETER, ticket_of
from vocabulary.names import none_of


async def check_query(connection: HTTPConnection) -> None:
    """Raises ProblemError (422), which names each unknown parameter. Pages have none, and ignore all."""
    route = connection.scope["route"]
    if not isinstance(route, APIRoute) or not route.include_in_schema:
        return
    known = _names(route.dependant)
    given = [*dict.fromkeys(connection.query_params)]
    if ticket_of(connection) and not _takes_a_token(route.dependant):
        given.append(PARAMETER)
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    errors = tuple(FieldError(name, _fix(name, known)) for name in unknown)
    named = ", ".join(f"{error.field}: {error.message}" for error in errors)
    raise ProblemError(Problem(422, f"Some query parameters are not known here: {named}.", errors))


def _names(dependant: Dependant) -> list[str]:
    """The query parameters of a route, those of its dependencies and of a model among them."""
    names = [name for below in dependant.dependencies for name in _names(below)]
    for field in dependant.query_params:
        model = field.field_info.annotation
        if inspect.isclass(model) and issubclass(model, BaseModel):
            names += [one.alias or name for name, one in model.model_fields.items()]
        else:
            names.append(field.alias)
    return names


def _takes_a_token(dependant: Dependant) -> bool:
    return isinstance(dependant.call, HTTPBearer) or any(map(_takes_a_token, dependant.dependencies))


def _fix(name: str, known: list[str]) -> str:
    return none_of(name, known) if known else "is not a parameter of this route, which has none; remove it"
