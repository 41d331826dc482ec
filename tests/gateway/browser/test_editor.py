"""The editor of the page in Chromium, and that nothing written in it is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from wavepool.executor.v1 import run_event_pb2
from wavepool.submission.v1 import submission_pb2

from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.scripted_scheduler import ALIAS, STARTER
from tests.gateway.scripted_services import ScriptedServices

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Keeps all that an element has said; the editor is in a shadow root.
HEAR = """(selector) => {
  const said = document.querySelector("#editor").shadowRoot.querySelector(selector);
  window.heard = [];
  new MutationObserver(() => window.heard.push(said.textContent)).observe(said, { childList: true, subtree: true });
}"""

FULL = submission_pb2.RUN_MODE_FULL
TWO_ERRORS = run_event_pb2.Finished(
    verdict=run_event_pb2.VERDICT_COMPILE_ERROR,
    message="The compiler found 2 errors.",
    details="solution.hip:2:5: error: first fault\nsolution.hip:40:1: error: second fault",
)
FULL_STORE = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
NO_DATABASE = "IDBFactory.prototype.open = () => { throw new DOMException('forbidden', 'SecurityError'); };"
# The database opens when the test lets it.
SLOW_DATABASE = """
    const { open } = IDBFactory.prototype;
    const opened = new Promise((resolve) => { window.letDatabaseOpen = resolve; });
    IDBFactory.prototype.open = function (...database) {
        const asked = new EventTarget();
        opened.then(() => {
            const request = open.apply(this, database);
            for (const kind of ["upgradeneeded", "success", "error"]) {
                request.addEventListener(kind, (event) => {
                    asked.result = request.result;
                    asked.transaction = request.transaction;
                    asked[`on${kind}`]?.(event);
                });
            }
        });
        return asked;
    };
"""
# And drawn, if there is anything to draw.
EDITOR_LOADED = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const loaded = () => performance.getEntriesByType("resource").find(({ name }) => name.includes("/source_editor-"));
    while (!loaded()) await frame();
    await import(loaded().name);
    await frame();
    await frame();
}"""
UNTIL_LEFT = """() => new Promise(resolve => {
    const look = () => "wavepool.draft.vector-addition" in localStorage ? setTimeout(look, 10) : resolve();
    look();
})"""
DROP = """text => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "dropped.hip"));
    const event = { dataTransfer: transfer, bubbles: true, cancelable: true, composed: true };
    document.querySelector("#editor").shadowRoot.querySelector("#code").dispatchEvent(new DragEvent("drop", event));
}"""


def button(name: str) -> str:
    return f"button:text-is('{name}')"


async def submitted(web: BrowserPage, code: str) -> None:
    """Runs a source to its end."""
    web.script(FULL)
    await web.page.fill("#code", code)
    await web.submit()
    await web.page.wait_for_selector(".verdict.good")


async def offered(page: Page) -> list[str]:
    await page.wait_for_selector(".cm-tooltip-autocomplete")
    return await page.locator(".cm-tooltip-autocomplete .cm-completionLabel").all_inner_texts()


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("threadI", "threadIdx"),
        ("__shfl_d", "__shfl_down"),
        ("hipErr", "hipError_t"),
        ("solu", "solution"),
        ("my_own_w", "my_own_word"),
    ],
)
async def test_words_of_hip_of_the_problem_and_of_the_text_are_completed_without_a_server(
    web: BrowserPage, typed: str, label: str
) -> None:
    await web.open()
    await web.page.fill("#code", "int my_own_word;\n")
    await web.page.focus("#code")
    await web.page.keyboard.press("Control+End")
    await expect(web.page.locator("#quote")).not_to_be_empty()
    asked: list[str] = []
    web.page.on("request", lambda request: asked.append(request.url))
    await web.page.keyboard.type(typed)
    assert label in await offered(web.page)
    assert asked == []


async def test_the_problems_function_is_completed_with_its_parameters_but_not_in_a_comment(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "")
    await web.page.focus("#code")
    await web.page.keyboard.type("soluti")
    # By pointer: the editor takes no key for a choice in the first moment of the list.
    await web.page.click(".cm-tooltip-autocomplete li >> nth=0")
    await expect(web.page.locator("#code")).to_contain_text(
        'extern "C" void solution(const float* a, const float* b, float* c, size_t n) {'
    )
    await web.page.keyboard.type("// threadI")
    await expect(web.page.locator(".cm-tooltip-autocomplete")).to_have_count(0)


async def test_keys_go_from_diagnostic_to_diagnostic_and_show_their_text(web: BrowserPage) -> None:
    web.script(FULL, TWO_ERRORS, ("compiling",))
    await web.open()
    await web.page.fill("#code", "\n".join(f"line {number};" for number in range(1, 61)))
    await web.submit()
    await expect(web.page.locator(".cm-lintRange-error").first).to_be_in_viewport()
    await web.page.focus("#code")
    # What is read out stays there for a moment only.
    await web.page.evaluate(HEAR, ".cm-announced")
    shown = web.page.locator(".cm-tooltip-lint .cm-diagnostic")
    for key, text in (("F8", "first fault"), ("F8", "second fault"), ("Shift+F8", "first fault")):
        await web.page.keyboard.press(key)
        await expect(shown).to_have_text(text)
        await expect(shown).to_be_in_viewport()
        await web.page.wait_for_function("(text) => window.heard.some((one) => one.includes(text))", arg=text)
    await web.page.keyboard.press("Control+Home")
    await expect(shown).to_have_count(0)


async def test_keys_of_vim_are_loaded_if_somebody_wants_them_and_remembered(web: BrowserPage) -> None:
    files: list[str] = []
    web.page.on("request", lambda request: files.append(request.url))
    await web.open()
    assert not any("vim" in file for file in files)
    await web.page.fill("#code", "one\ntwo")
    await web.page.click("#editor-menu summary")
    await web.page.check("#vim-keys")
    await web.page.wait_for_selector(".cm-fat-cursor, .cm-vim-panel")
    assert await web.accessibility() == []
    await web.page.reload()
    await expect(web.page.locator("#code")).to_have_text("onetwo")
    await web.page.wait_for_selector(".cm-vim-panel")
    await web.page.focus("#code")
    await web.page.keyboard.type("ggdd")
    await expect(web.page.locator("#code")).to_have_text("two")
    await web.page.keyboard.type("Othree")
    assert await web.code() == "three\ntwo"
    await web.page.keyboard.press("Escape")
    await web.page.keyboard.press("Tab")
    assert await web.page.evaluate("document.activeElement.id") == "submit-button"


async def test_the_size_of_letters_and_wrapped_lines_are_remembered(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "int x; " * 100)
    height = "document.querySelector('#editor').shadowRoot.querySelector('.cm-line').clientHeight"
    before = await web.page.evaluate(height)
    await web.page.click("#editor-menu summary")
    await web.page.select_option("#font-size", "20")
    assert await web.page.evaluate(height) > before
    await web.page.check("#wrap-lines")
    await web.page.keyboard.press("Escape")
    await expect(web.page.locator("#wrap-lines")).to_be_hidden()
    await web.page.reload()
    await web.is_ready()
    await web.page.wait_for_selector(".cm-lineWrapping")
    assert await web.page.evaluate(height) > 3 * before
    assert await web.page.locator(".cm-content").evaluate("it => getComputedStyle(it).fontSize") == "20px"


async def test_a_file_takes_the_place_of_the_text_and_that_can_be_undone(web: BrowserPage, tmp_path: Path) -> None:
    await web.open()
    await web.page.fill("#code", "int mine;")
    (tmp_path / "other.hip").write_text("int other;")
    await web.page.set_input_files("#file-input", tmp_path / "other.hip")
    await expect(web.page.locator("#replaced")).to_contain_text("other.hip has replaced your text.")
    assert await web.code() == "int other;"
    await web.page.click(button("Undo"))
    assert await web.code() == "int mine;"
    await web.page.evaluate(DROP, "int dropped;")
    await expect(web.page.locator("#code")).to_have_text("int dropped;")
    async with web.page.expect_download() as download:
        await web.page.click("#download-button")
    assert (await download.value).suggested_filename == "vector-addition.hip"
    assert (await (await download.value).path()).read_text() == "int dropped;"
    await web.page.reload()
    await web.is_ready()
    assert await web.code() == "int dropped;"


@pytest.mark.parametrize(
    ("content", "why"), [(b"x" * (2 << 20), "it has 2.0 MiB"), (b"\x7fELF\0\0", "it is not text in UTF-8")]
)
async def test_a_file_that_is_no_source_is_refused_and_nothing_is_lost(
    web: BrowserPage, tmp_path: Path, content: bytes, why: str
) -> None:
    await web.open()
    await web.page.fill("#code", "int mine;")
    (tmp_path / "a.out").write_bytes(content)
    await web.page.set_input_files("#file-input", tmp_path / "a.out")
    await expect(web.page.locator("#file-refusal")).to_contain_text(f"a.out was not opened: {why}")
    assert await web.code() == "int mine;"
    assert await web.accessibility() == []


async def test_the_starter_can_be_undone_and_the_version_of_before_opened_again(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "int mine;")
    await web.page.click("#starter-button")
    assert "solution" in await web.code()
    await web.page.click(button("Undo"))
    assert await web.code() == "int mine;"
    await expect(web.page.locator("#replaced")).to_have_count(0)
    await web.page.click("#starter-button")
    await web.page.reload()
    await web.is_ready()
    await web.page.click("#versions-button")
    versions = web.page.locator("#versions li")
    await expect(versions.first).to_contain_text("before it was replaced")
    assert await web.accessibility() == []
    await versions.first.locator("button").click()
    await expect(web.page.locator("#old-code")).to_contain_text("your version of")
    assert await web.code() == "int mine;"
    await web.page.click(button("Use this code"))
    await expect(web.page.locator("#old-code")).to_have_count(0)
    await web.page.reload()
    await web.is_ready()
    assert await web.code() == "int mine;"


async def test_the_last_thirty_versions_of_a_draft_stay(web: BrowserPage) -> None:
    await web.open()
    for number in range(17):
        await web.page.fill("#code", f"int mine_{number};")
        await web.page.click("#starter-button")
        await web.page.click(button("Undo"))
    await web.page.click("#versions-button")
    await expect(web.page.locator("#versions li")).to_have_count(30)


async def test_an_old_run_opens_without_its_code_overwriting_the_draft(web: BrowserPage) -> None:
    await web.open()
    await submitted(web, "int old;")
    await web.page.fill("#code", "int draft;")
    address = web.page.url
    await web.page.goto("about:blank")
    await web.page.goto(address)
    await web.page.wait_for_selector("#old-code")
    assert await web.code() == "int old;"
    await web.page.focus("#code")
    await web.page.keyboard.type("typed")
    assert await web.code() == "int old;"
    assert await web.accessibility() == []
    await web.page.click(button("Back to your draft"))
    assert await web.code() == "int draft;"
    await web.page.focus("#code")
    await web.page.keyboard.press("Control+Z")
    assert await web.code() == "int draft;"
    await web.page.reload()
    await web.page.click(button("Use this code"))
    assert await web.code() == "int old;"
    await web.page.click(button("Undo"))
    assert await web.code() == "int draft;"


async def test_the_older_of_two_tabs_with_one_draft_says_so_and_can_take_the_newer_text(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "int first;")
    tab = BrowserPage(await web.page.context.new_page(), web.gateway)
    await tab.page.goto(f"{web.gateway.url}{PROBLEM_PAGE}")
    await tab.is_ready()
    await expect(tab.page.locator("#code")).to_have_text("int first;")
    await tab.page.fill("#code", "int second;")
    await expect(web.page.locator("#newer")).to_contain_text("Another tab has changed this draft")
    assert await web.code() == "int first;"
    assert await web.accessibility() == []
    await web.page.click(button("Take its text"))
    assert await web.code() == "int second;"
    await expect(web.page.locator("#newer")).to_have_count(0)
    # Whoever goes on with the older text loses nothing of the newer one.
    await tab.page.fill("#code", "int third;")
    await expect(web.page.locator("#newer")).to_be_visible()
    await web.page.fill("#code", "int fourth;")
    await expect(tab.page.locator("#newer")).to_be_visible()
    await web.page.click("#versions-button")
    await expect(web.page.locator("#versions li").first).to_contain_text("from another tab")
    assert tab.complaints == []


async def test_a_source_that_the_small_store_has_no_room_for_is_kept_all_the_same(web: BrowserPage) -> None:
    await web.open()
    await web.page.fill("#code", "int small;")
    await web.page.evaluate(f"{FULL_STORE} null")
    await web.page.fill("#code", "int large;")
    await web.page.evaluate(UNTIL_LEFT)
    await web.page.reload()
    await web.is_ready()
    await expect(web.page.locator("#code")).to_have_text("int large;")
    await expect(web.page.locator("#unkept")).to_have_count(0)


async def test_nothing_can_be_typed_before_the_draft_is_there_to_type_in(web: BrowserPage) -> None:
    await web.page.add_init_script(SLOW_DATABASE)
    await web.open()
    await web.page.evaluate(EDITOR_LOADED)
    await expect(web.page.locator("#code")).to_have_count(0)
    await web.page.evaluate("letDatabaseOpen()")
    await web.page.focus("#code")
    await web.page.keyboard.press("Control+Home")
    await web.page.keyboard.type("mine ")
    assert await web.code() == f"mine {STARTER}"


async def test_a_browser_that_keeps_nothing_says_so_once_and_editing_goes_on(web: BrowserPage) -> None:
    await web.page.add_init_script(NO_DATABASE)
    await web.open()
    await web.page.evaluate(f"{FULL_STORE} null")
    await web.page.fill("#code", "int mine;")
    await expect(web.page.locator("#unkept")).to_contain_text("This browser keeps nothing of what you write")
    await web.page.click("#unkept button")
    await web.page.fill("#code", "int mine; int more;")
    await expect(web.page.locator("#unkept")).to_have_count(0)
    await submitted(web, "int still_runs;")


async def test_a_page_whose_storage_is_forbidden_works_until_it_is_closed(web: BrowserPage) -> None:
    forbid = "() => { throw new DOMException('forbidden', 'SecurityError'); }"
    for name in ("localStorage", "sessionStorage"):
        await web.page.add_init_script(f"Object.defineProperty(window, '{name}', {{ get: {forbid} }});")
    await web.page.add_init_script(
        f"{NO_DATABASE} BroadcastChannel = class {{ constructor() {{ throw new Error(); }} }};"
    )
    await web.open()
    await submitted(web, "int mine;")
    await expect(web.page.locator("#unkept")).to_be_visible()


async def test_a_link_to_another_problem_leaves_the_run_of_before(web: BrowserPage, services: ScriptedServices) -> None:
    await web.open()
    await submitted(web, "int mine;")
    await web.page.evaluate(f"history.pushState(null, '', '/problems/{ALIAS}')")
    await web.page.wait_for_url(re.compile(f"{PROBLEM_PAGE}$"))
    await expect(web.page.locator("#run")).to_have_count(0)
    assert services.refusals.calls["GetProblem"][-1].slug == ALIAS
    assert await web.code() == "int mine;"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_editor_fits_a_phone(web: BrowserPage, scheme: str) -> None:
    await web.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await web.page.set_viewport_size({"width": 390, "height": 844})
    await web.open()
    await web.page.fill("#code", STARTER + "int mine;")
    await web.page.click("#starter-button")
    await web.page.click("#editor-menu summary")
    assert await web.overflow_pixels() == 0
    assert await web.accessibility() == []
