// <theme-switch>: three buttons, one pressed. The choice stays in this browser.
const KEY = "herald-theme"

function chosen() {
  try {
    return localStorage.getItem(KEY) ?? "system"
  } catch {
    return document.documentElement.dataset.theme ?? "system"
  }
}

function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    if (theme === "system") localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // it holds for this page only
  }
}

class ThemeSwitch extends HTMLElement {
  #off

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    this.hidden = false
    this.#show(chosen())
    this.addEventListener("click", (e) => {
      const button = e.target.closest("[data-theme-choice]")
      if (!button) return
      choose(button.dataset.themeChoice)
      document.dispatchEvent(new CustomEvent("herald:theme"))
    }, { signal })
    document.addEventListener("herald:theme", () => this.#show(chosen()), { signal })
  }

  disconnectedCallback() { this.#off.abort() }

  #show(theme) {
    for (const b of this.querySelectorAll("[data-theme-choice]")) {
      b.setAttribute("aria-pressed", String(b.dataset.themeChoice === theme))
    }
  }
}
customElements.define("theme-switch", ThemeSwitch)
