// SPDX-License-Identifier: Apache-2.0
// What a reader can press: copies, downloads, choices.
import { breakable, make } from "./elements";

function button(label: string, action: (self: HTMLButtonElement) => void): HTMLButtonElement {
  const element = make("button", { type: "button", class: "link" }, label);
  element.addEventListener("click", () => action(element));
  return element;
}

/** A button that hands out a file made here. */
export function downloadButton(label: string, fileName: string, type: string, content: () => string | Promise<string>): HTMLButtonElement {
  return button(label, () => void Promise.resolve(content()).then((text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = fileName;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }));
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or no clipboard for pages opened from disk
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** A text with a button that copies it: a configuration may break at commas, a command between its words and there. */
export function copyable(what: string, text: string): HTMLElement {
  const copyButton = button("Copy", (self) => void copy(text).then(() => {
    self.textContent = "Copied";
    setTimeout(() => { self.textContent = "Copy"; }, 1500);
  }));
  copyButton.setAttribute("aria-label", `Copy the ${what}: ${text.slice(0, 80)}`);
  const words = (line: string) => line.split(" ").flatMap((word, i) => [...(i > 0 ? [" "] : []), make("span", { class: "word" }, ...breakable(word))]);
  const holder = make("span", {}, ...(what.startsWith("configuration") ? breakable(text) : text.startsWith("tune ") ? words(text) : [text]));
  return make("pre", {}, make("code", {}, holder, copyButton));
}

/** A labelled choice among texts; `pick` hears the position chosen. */
export function choice(label: string, options: string[], chosen: number, pick: (index: number) => void): { element: HTMLElement; select: HTMLSelectElement } {
  const select = make("select", {}, ...options.map((text) => new Option(text)));
  select.selectedIndex = chosen;
  select.addEventListener("change", () => pick(select.selectedIndex));
  return { element: make("label", {}, label, select), select };
}
