// <compose-dialog>: a new post over the page that asks for one. A link or form of this
// page that leads to its hx-get address opens the answer here instead, styled before it
// shows; with Ctrl, Shift or the middle button it is followed. The address becomes the
// page's own meanwhile, so that Back closes the dialog and a reload shows the page of it.
// Closed, the words stay where kept-form keeps them, and a notice says so.
import { show } from "./modal-dialog.js"

const OPEN = "compose" // the mark of our entry in the history

class ComposeDialog extends HTMLElement {
  #off
  #address
  #back // what gets the focus again
  #leads // where "Open as page" goes once the words are kept
  #page = location.pathname + location.search

  get #dialog() { return this.querySelector("dialog") }
  get #notices() { return document.getElementById("notices") }

  connectedCallback() {
    this.#off = new AbortController()
    const on = (target, type, f, capture = false) => target.addEventListener(type, f, { signal: this.#off.signal, capture })
    on(document, "click", (e) => this.#click(e))
    on(document, "submit", (e) => this.#submit(e))
    on(document, "htmx:config:request", (e) => this.#aim(e.detail.ctx))
    on(document, "htmx:before:swap", (e) => { if (this.#place(e) === this && this.contains(this.#notices)) document.body.append(this.#notices) })
    on(document, "htmx:after:swap", (e) => this.#swapped(this.#place(e)))
    on(document, "htmx:finally:request", (e) => { if (e.detail.ctx.sourceElement.matches("[data-live-again]")) this.#return() })
    on(document, "htmx:before:history:restore", (e) => { if (history.state?.[OPEN] || e.detail.path === this.#page) e.preventDefault() })
    on(window, "popstate", () => this.#step())
    on(this, "close", (e) => { if (e.target === this.#dialog) this.#closed() }, true)
    for (const type of ["kept", "lost"]) on(this, type, () => this.#told(type))
  }

  disconnectedCallback() { this.#off.abort() }

  #click(e) {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
    const link = e.target.closest?.("a[href]")
    if (link && this.contains(link) && link.getAttribute("href").startsWith("#")) return this.#jump(e, link)
    if (!link || !this.#begins(link.href)) return
    if (link.matches("[data-as-page]")) return this.#leave(e, link)
    e.preventDefault()
    this.#open(link.href, link)
  }

  // A jump would be a step of the history, and Back is to close the dialog.
  #jump(e, link) {
    e.preventDefault()
    document.getElementById(link.hash.slice(1))?.scrollIntoView({ block: "center" })
  }

  #submit(e) {
    if (e.defaultPrevented || e.target.method !== "get" || !this.#begins(e.target.action)) return
    e.preventDefault()
    this.#open(e.target.action + "?" + new URLSearchParams(new FormData(e.target)), document.activeElement)
  }

  #begins(address) {
    const { origin, pathname } = new URL(address, location.href)
    return origin === location.origin && pathname === this.getAttribute("hx-get")
  }

  #open(address, from) {
    if (!this.#dialog?.open) this.#back = from
    else this.#keeps() // another takes its place
    this.#address = address
    this.dispatchEvent(new Event("begin"))
  }

  // A button of the form may have an address of its own; htmx knows the form's alone.
  #aim({ sourceElement, request }) {
    if (sourceElement === this) request.action = this.#address
    else if (this.contains(sourceElement) && sourceElement.matches("form.composer") && request.submitter?.hasAttribute("formaction")) request.action = request.submitter.getAttribute("formaction")
  }

  // An answer may name its place in words.
  #place({ detail: { ctx: { target } } }) { return typeof target === "string" ? document.querySelector(target) : target }

  #swapped(target) {
    if (target === this) return this.#arrived()
    if (!this.contains(target)) return
    if (this.querySelector("[data-done]")) this.#done()
    else if (target.matches("[data-composes]")) this.querySelector("[autofocus]")?.focus()
  }

  async #arrived() {
    await Promise.all([...this.querySelectorAll("link[rel=stylesheet]")].map((link) => this.#style(link)))
    const state = { htmx: true, [OPEN]: this.#address }
    if (history.state?.[OPEN]) history.replaceState(state, "", this.#address)
    else history.pushState(state, "", this.#address)
    show(this.#dialog)
    for (const link of this.#notices.querySelectorAll("a[href]")) if (this.#begins(link.href)) link.closest("notice-card").remove()
    this.#dialog.append(this.#notices)
  }

  // A sheet stays in the head, so that a second dialog has it at once.
  #style(link) {
    if ([...document.head.querySelectorAll("link")].some((have) => have.href === link.href)) return link.remove()
    document.head.append(link)
    return new Promise((ready) => { link.onload = link.onerror = ready })
  }

  #step() {
    const address = history.state?.[OPEN]
    if (!address && this.#dialog?.open) this.#dialog.close()
    else if (address && !this.#dialog?.open) this.#open(address, document.activeElement)
  }

  #closed() {
    document.body.append(this.#notices)
    if (history.state?.[OPEN]) history.back()
    window.navigation?.addEventListener("navigatesuccess", () => this.#return(), { once: true })
    this.#return()
    if (!this.#keeps()) this.replaceChildren()
  }

  // keeps asks kept-form to see to the words. It tells, if there are any.
  #keeps() {
    const kept = this.querySelector("kept-form")
    return kept && !kept.dispatchEvent(new Event("leave", { cancelable: true }))
  }

  #told(became) {
    if (this.#leads) return location.assign(this.#leads)
    if (!this.#dialog || this.#dialog.open) return
    this.#notices.replaceChildren(this.querySelector(`[data-${became}-notice]`).content.cloneNode(true))
    this.replaceChildren()
  }

  #leave(e, link) {
    if (!this.#keeps()) return
    e.preventDefault()
    this.#leads = link.dataset.asPage
  }

  #done() {
    this.#dialog.close()
    document.querySelector("[data-live-again]")?.dispatchEvent(new Event("live"))
  }

  // What was focused may be drawn anew, or be a place that takes no focus by itself.
  #return() {
    if (!this.#back?.isConnected || this.#dialog?.open || document.activeElement !== document.body) return
    if (this.#back.tabIndex < 0) this.#back.tabIndex = -1
    this.#back.focus({ preventScroll: true })
  }
}
customElements.define("compose-dialog", ComposeDialog)
