// SPDX-License-Identifier: Apache-2.0
// What a reader can press: copies, downloads, choices.

function button(label: string, action: (self: HTMLButtonElement) => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "link";
  element.textContent = label;
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

/** Gives every <code data-copy="what"> a button. */
export function addCopyButtons(root: ParentNode): void {
  for (const code of root.querySelectorAll<HTMLElement>("code[data-copy]:not([data-ready])")) {
    code.dataset.ready = "true";
    const text = code.textContent ?? "";
    const copyButton = button("Copy", (self) => void copy(text).then(() => {
      self.textContent = "Copied";
      setTimeout(() => { self.textContent = "Copy"; }, 1500);
    }));
    copyButton.setAttribute("aria-label", `Copy the ${code.dataset.copy}: ${text.slice(0, 80)}`);
    const holder = document.createElement("span");
    const parts = code.dataset.copy!.startsWith("configuration") ? text.split(/(?<=,)/) : [text]; // which may break at commas
    holder.append(...parts.flatMap((part, i) => (i > 0 ? [document.createElement("wbr"), part] : [part])));
    code.replaceChildren(holder, copyButton);
  }
}

/** A labelled choice among texts; `pick` hears the position chosen. */
export function choice(label: string, options: string[], chosen: number, pick: (index: number) => void): { element: HTMLElement; select: HTMLSelectElement } {
  const element = document.createElement("label");
  const select = document.createElement("select");
  for (const text of options) select.append(new Option(text));
  select.selectedIndex = chosen;
  select.addEventListener("change", () => pick(select.selectedIndex));
  element.append(label, select);
  return { element, select };
}
