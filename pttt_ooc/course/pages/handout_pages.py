"""The addresses of what a course hands out: the starter kit, and the lists of infosets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from pttt_ooc.course.data.storage import KIT, LISTS, Handout
from pttt_ooc.course.pages.context import UsedCourse

router = APIRouter(include_in_schema=False)
_KEPT = "no-cache"  # by caches, which ask each time whether it is still the same
_MAKING = "The starter kit is being made; come back in a minute."


@router.get(f"/{KIT}")
def starter_kit(request: Request, course: UsedCourse) -> Response:
    """The starter kit."""
    kit = _kit(course.handout)
    headers = _headers(kit.revision)
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return FileResponse(kit.file, media_type="application/zip", filename=KIT, headers=headers)


@router.get("/player{player}-infosets.txt")
def infosets(request: Request, course: UsedCourse, player: Annotated[int, Path(ge=0, le=1)]) -> Response:
    """A player's list of infosets: for those who take it, compressed."""
    kit = _kit(course.handout)
    gzipped = _takes_gzip(request)
    headers = {**_headers(f"{kit.revision}-{player}{'-gzip' if gzipped else ''}"), "Vary": "Accept-Encoding"}
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    size = kit.gzipped_size(player) if gzipped else kit.lists[player].file_size
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{LISTS[player]}"'}
    headers |= {"Content-Encoding": "gzip"} if gzipped else {}
    content = kit.gzip_text(player) if gzipped else kit.text(player)
    return StreamingResponse(content, media_type="text/plain; charset=us-ascii", headers=headers)


def _kit(found: Handout | None) -> Handout:
    if found is None:
        raise HTTPException(503, _MAKING, {"Retry-After": "60"})
    return found


def _headers(tag: str) -> dict[str, str]:
    return {"ETag": f'"{tag}"', "Cache-Control": _KEPT}


def _is_known(request: Request, tag: str) -> bool:
    """Whether the browser has it already."""
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    return tag in known or "*" in known


def _takes_gzip(request: Request) -> bool:
    for one in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, parameters = one.partition(";")
        if name.strip() in ("gzip", "*"):
            weight = parameters.replace(" ", "").removeprefix("q=")
            return weight.strip("0.") != "" or not parameters
    return False
