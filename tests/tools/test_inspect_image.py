from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF
from PIL import Image as PIL

from forethought.models.types import Image
from forethought.prompts.replies import DocumentAnswer
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore
from forethought.tools.inspect_image import INSPECT_IMAGE
from forethought.tools.read_file import READ_FILE


class Looker:
    """The vision model of a test."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Image, str]] = []

    async def __call__(self, question: str, image: Image, name: str) -> DocumentAnswer:
        self.asked.append((question, image, name))
        return DocumentAnswer(brief="A red square.", details="Red, 20 wide.", context="")


@pytest.fixture
def env(tmp_path: Path, settings: Callable[..., Settings]) -> ToolEnv:
    store = FileStore(tmp_path / "blobs")
    out = io.BytesIO()
    PIL.new("RGB", (3000, 20), "red").save(out, "PNG")
    files = {
        "Square.PNG": store.put(out.getvalue()),
        "notes.txt": store.put(b"no picture"),
        "drawing.svg": store.put(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "empty.png": store.put(b""),
        "half.png": store.put(out.getvalue()[:100]),
        "gone.png": "0" * 64,
    }
    return ToolEnv(settings(), files=files, store=store, look=Looker())


async def look(env: ToolEnv, path: str, question: str | None = None) -> Observation:
    arguments = INSPECT_IMAGE.arguments(path=path, question=question).model_dump()
    observation = await INSPECT_IMAGE.run(env, **arguments)
    assert isinstance(observation, Observation)
    return observation


async def test_the_answer_comes_in_three_parts_with_the_pictures_size(env: ToolEnv) -> None:
    observation = await look(env, "square.png", "  What is it? ")
    assert observation == Observation(
        "Square.PNG, a picture of 3000 x 20 pixels (scaled down to 2048 x 14).\n"
        "Brief: A red square.\nDetails: Red, 20 wide.",
        origin="file:Square.PNG",
    )
    assert isinstance(env.look, Looker)
    ((question, image, name),) = env.look.asked
    assert (question, name, image.mime) == ("What is it?", "Square.PNG", "image/png")
    assert PIL.open(io.BytesIO(image.data)).size == (2048, 14)
    assert image.sha256 == env.files["Square.PNG"]
    await look(env, "Square.PNG")
    assert env.look.asked[1][0] == "", "without a question, it is described"


@pytest.mark.parametrize(
    ("path", "message", "cause"),
    [
        ("notes.txt", "notes.txt is not a picture", "arguments"),
        ("drawing.svg", "drawing.svg is not a picture", "arguments"),
        ("empty.png", "empty.png is empty", "empty"),
        ("half.png", "half.png is damaged", "tool"),
        ("gone.png", "not stored here", "not_found"),
        ("../etc/shadow", "no file called", "not_found"),
    ],
)
async def test_an_unusable_picture_is_named(env: ToolEnv, path: str, message: str, cause: str) -> None:
    with pytest.raises(ToolError, match=message) as raised:
        await look(env, path)
    assert raised.value.cause == cause


@pytest.mark.parametrize(
    ("name", "tool"), [("ffmpeg_card.jpg", "inspect_image"), ("speech.mp3", "inspect_audio")]
)
async def test_read_file_sends_pictures_and_sound_to_their_own_tools(
    env: ToolEnv, name: str, tool: str
) -> None:
    assert env.store is not None
    data = (Path(__file__).with_name("media") / "files" / name).read_bytes()
    observation = await call_tool(
        READ_FILE, {"path": name}, dataclasses.replace(env, files={name: env.store.put(data)})
    )
    assert (observation.ok, observation.cause, tool in observation.hint) == (False, "arguments", True)
    assert tool not in READ_FILE.description  # it may not be offered


async def test_a_picture_that_unpacks_to_too_much_is_refused(env: ToolEnv) -> None:
    assert env.store is not None
    out = io.BytesIO()
    PIL.new("RGB", (6000, 6000)).save(out, "PNG")
    small = env.settings.model_copy(update={"reader_memory_mb": 100})
    bomb = dataclasses.replace(env, settings=small, files={"a.png": env.store.put(out.getvalue())})
    seen = await call_tool(INSPECT_IMAGE, {"path": "a.png"}, bomb)
    assert (seen.ok, seen.cause) == (False, "limit")
    assert "needs more than 100 MB of memory" in seen.text


async def test_a_page_of_a_pdf_or_tiff_is_looked_at(env: ToolEnv) -> None:
    document = FPDF()
    for size in ((100, 50), (50, 100)):
        document.add_page(format=size)
        document.rect(5, 5, 20, 20)
    fax = io.BytesIO()
    PIL.new("L", (20, 10)).save(fax, "TIFF", save_all=True, append_images=[PIL.new("L", (10, 30))])
    assert env.store is not None
    files = {"scan.pdf": env.store.put(bytes(document.output())), "fax.tif": env.store.put(fax.getvalue())}
    env = dataclasses.replace(env, files=files)
    arguments = INSPECT_IMAGE.arguments(path="scan.pdf", question=None, page=2).model_dump()
    assert "(page 2 of 2)" in (await INSPECT_IMAGE.run(env, **arguments)).text
    assert isinstance(env.look, Looker)
    wide, high = PIL.open(io.BytesIO(env.look.asked[-1][1].data)).size
    assert high > wide > 300
    arguments = INSPECT_IMAGE.arguments(path="fax.tif", question=None, page=2).model_dump()
    assert "10 x 30 pixels (page 2 of 2)" in (await INSPECT_IMAGE.run(env, **arguments)).text
    for path in files:
        arguments = INSPECT_IMAGE.arguments(path=path, question=None, page=3).model_dump()
        with pytest.raises(ToolError, match="there is no page 3"):
            await INSPECT_IMAGE.run(env, **arguments)
