// SPDX-License-Identifier: Apache-2.0
// What a reader can press: copies, downloads, choices, tabs.

function button(label: string, action: (self: HTMLButtonElement) => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "link";
  element.textContent = label;
  element.addEventListener("click", () => action(element));
  return element;
}

/** A button that hands out a file made here. */
export function downloadButton(label: string, fileName: string, type: string, content: () => string): HTMLButtonElement {
  return button(label, () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content()], { type }));
    link.download = fileName;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
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
  for (const code of root.querySelectorAll<HTMLElement>("code[data-copy]")) {
    const text = code.textContent ?? "";
    const copyButton = button("Copy", (self) => void copy(text).then(() => {
      self.textContent = "Copied";
      setTimeout(() => { self.textContent = "Copy"; }, 1500);
    }));
    copyButton.setAttribute("aria-label", `Copy the ${code.dataset.copy}`);
    const holder = document.createElement("span");
    holder.append(...code.childNodes);
    code.append(holder, copyButton);
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

const kMostTabs = 12;

/** Shows one of many sections, the last at first: that chosen from a list. */
function makeList(sections: HTMLElement[], label: string): void {
  const open = (chosen: number) => sections.forEach((section, i) => { section.hidden = i !== chosen; });
  const list = choice(`${label} `, sections.map((section) => section.dataset.label ?? ""), sections.length - 1, open);
  list.element.className = "controls";
  sections[0].before(list.element);
  open(sections.length - 1);
}

/** Makes tabs of sections, the last one open; arrow keys, Home and End move between them. Many sections become a list. */
export function makeTabs(sections: HTMLElement[], label: string): void {
  if (sections.length < 2) return;
  if (sections.length > kMostTabs) return makeList(sections, label);
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", label);
  const tabs = sections.map((section, i) => {
    const tab = button(section.dataset.label ?? "", () => open(i));
    tab.className = "tab";
    tab.setAttribute("role", "tab");
    section.id ||= `size-${section.dataset.size?.replaceAll("/", "-")}`;
    section.setAttribute("role", "tabpanel");
    section.setAttribute("aria-label", section.dataset.label ?? "");
    tab.setAttribute("aria-controls", section.id);
    return tab;
  });
  const open = (chosen: number) => tabs.forEach((tab, i) => {
    tab.setAttribute("aria-selected", String(i === chosen));
    tab.tabIndex = i === chosen ? 0 : -1;
    sections[i].hidden = i !== chosen;
  });
  list.addEventListener("keydown", (event) => {
    const now = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    const next = (to + tabs.length) % tabs.length;
    open(next);
    tabs[next].focus();
    event.preventDefault();
  });
  list.append(...tabs);
  sections[0].before(list);
  open(sections.length - 1);
}
