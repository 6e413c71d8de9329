// <kept-form>: keeps the form around it while somebody writes. After a pause it asks
// htmx to send the form, as an event "keep". Until the server has it, a copy stays in
// this browser, under data-store; what was left there by a lost line is offered when
// the page is opened again. unsaved-form hears "kept" and need not ask. Who takes the
// form away sends it "leave": prevented, that is answered by "kept" or "lost".
const PAUSE = 1500
const AGAIN = 10_000
const OLD = 14 * 24 * 3600_000

class KeptForm extends HTMLElement {
  #off
  #timer
  #typed = 0 // counts what was typed
  #sent = 0 // how much of it is on its way

  get #form() { return this.closest("form") }
  get #key() { return `${this.dataset.store} ${this.dataset.copy}` }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f) => target.addEventListener(type, f, { signal })
    for (const type of ["input", "change"]) on(this.#form, type, (e) => { if (e.target.name && e.target.type !== "file") this.#touch() })
    // The button that was pressed may be gone by now: the document hears of it then.
    on(document, "htmx:after:swap", (e) => { if (e.detail.ctx?.sourceEvent?.target?.closest?.("button[name=do]")) this.#touch() })
    on(this.#form, "submit", (e) => { if (e.submitter?.dataset.action === "drop-copy") this.#forget() })
    on(this.#form, "click", (e) => { if (e.target.closest("[data-action=discard-local]")) this.#discard() })
    on(document, "visibilitychange", () => { if (document.hidden && this.#typed > this.#sent) this.#keep() })
    on(window, "online", () => this.#keep())
    on(this, "leave", (e) => this.#leave(e))
    on(this, "htmx:finally:request", (e) => this.#told(e.detail.ctx))
    this.#offer()
  }

  disconnectedCallback() {
    this.#off.abort()
    clearTimeout(this.#timer)
  }

  #touch() {
    this.#typed++
    this.#store()
    this.#later(PAUSE)
  }

  #later(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#keep(), ms)
  }

  #keep() {
    if (this.#typed === 0) return
    clearTimeout(this.#timer)
    this.#sent = this.#typed
    this.dispatchEvent(new Event("keep"))
  }

  #told(ctx) {
    const { aborted, reason } = ctx.request.signal
    if (aborted && reason !== "timeout") return // a newer one is on its way
    const kept = ctx.response?.status === 200
    const lost = !ctx.response || ctx.response.status >= 500
    this.querySelector("[data-kept-lost]").hidden = !lost
    if (kept && this.#typed === this.#sent) {
      localStorage.removeItem(this.#key)
      this.dispatchEvent(new Event("kept", { bubbles: true }))
    } else if (lost) {
      this.#later(AGAIN)
      this.dispatchEvent(new Event("lost", { bubbles: true }))
    }
  }

  #leave(e) {
    if (this.#typed === 0) return
    e.preventDefault()
    this.#keep()
  }

  #store() {
    const fields = new URLSearchParams()
    for (const [name, value] of new FormData(this.#form)) if (typeof value === "string" && name !== "local") fields.append(name, value)
    try {
      localStorage.setItem(this.#key, JSON.stringify({ at: Date.now(), fields: fields.toString() }))
    } catch { /* the browser keeps nothing, or has no room: the server has it */ }
  }

  // offer shows the newest of what a lost line left, if the server has nothing newer.
  #offer() {
    const left = this.#left().filter((l) => l.at > Number(this.dataset.since))
    if (left.length === 0) return
    const here = this.#form.querySelector("[data-kept-here]")
    here.querySelector("[data-kept-local]").value = left.at(-1).fields
    here.hidden = false
  }

  #left() {
    const all = []
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(this.dataset.store + " ") || key === this.#key) continue
      const { at, fields } = JSON.parse(localStorage.getItem(key))
      if (at < Date.now() - OLD || at <= Number(this.dataset.since)) localStorage.removeItem(key)
      else all.push({ key, at, fields })
    }
    return all.sort((a, b) => a.at - b.at)
  }

  #discard() {
    this.#form.querySelector("[data-kept-here]").hidden = true
    for (const { key } of this.#left()) localStorage.removeItem(key)
  }

  #forget() {
    clearTimeout(this.#timer)
    localStorage.removeItem(this.#key)
  }
}
customElements.define("kept-form", KeptForm)
