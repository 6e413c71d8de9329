// <library-shelf>: choosing many files, and the keyboard. Its form owns what is
// done with them; each card's link opens the file. Without script every card has
// its box and the bar is always there.
const fields = "input:not([type=checkbox]), textarea, select, [contenteditable]"

class LibraryShelf extends HTMLElement {
  #off
  #last = null // the box that was ticked last: shift reaches from there

  get #boxes() { return [...this.querySelectorAll(".asset-choice")] }
  get #links() { return [...this.querySelectorAll(".asset-open")] }
  get #chosen() { return this.#boxes.filter((b) => b.checked) }

  connectedCallback() {
    this.#off = new AbortController()
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("click", (e) => this.#click(e))
    on("change", (e) => { if (e.target.matches(".asset-choice")) this.#count() })
    on("keydown", (e) => this.#key(e))
    on("htmx:after:swap", () => this.#arrived())
    this.#count()
  }

  disconnectedCallback() { this.#off.abort() }

  #count() {
    const n = this.#chosen.length
    this.toggleAttribute("data-idle", n === 0)
    this.toggleAttribute("data-choosing", n > 0)
    const say = this.querySelector("[data-chosen]")
    if (!say) return
    say.textContent = n === 1 ? "One file chosen" : `${n} files chosen`
    this.querySelector('[data-action="choose-none"]').hidden = false
  }

  #choose(boxes, on) {
    for (const b of boxes) b.checked = on
    this.#count()
  }

  #click(e) {
    if (e.target.closest('[data-action="choose-none"]')) return this.#choose(this.#boxes, false)
    const box = e.target.closest(".asset-choice")
    if (!box) return
    const all = this.#boxes
    if (e.shiftKey && this.#last?.isConnected) {
      const [a, b] = [all.indexOf(this.#last), all.indexOf(box)].sort((x, y) => x - y)
      this.#choose(all.slice(a, b + 1), box.checked)
    }
    this.#last = box
  }

  #key(e) {
    if (e.target.matches(fields) || e.altKey) return
    if (e.target.closest("dialog")) return this.#step(e)
    const at = this.#links.indexOf(e.target.closest(".asset")?.querySelector(".asset-open"))
    if (e.key === "a" && (e.ctrlKey || e.metaKey)) this.#choose(this.#boxes, true)
    else if (e.ctrlKey || e.metaKey) return
    else if (e.key === "Escape" && this.#chosen.length > 0) this.#choose(this.#boxes, false)
    else if (e.key === "Delete" && this.#chosen.length > 0) this.querySelector("[data-delete]").click()
    else if (at < 0) return
    else if (e.key === " " && e.target.matches(".asset-open")) this.#toggle(at)
    else if (e.key === "Enter" && e.target.matches(".asset-choice")) this.#links[at].click()
    else if (e.key.startsWith("Arrow") && e.shiftKey) this.#reach(at, e.key)
    else if (e.key.startsWith("Arrow")) this.#move(at, e.key)
    else return
    e.preventDefault()
  }

  #toggle(at) {
    const box = this.#links[at].closest(".asset").querySelector(".asset-choice")
    if (box) this.#choose([box], !box.checked)
    this.#last = box
  }

  // With shift, what is passed is chosen.
  #reach(at, key) {
    this.#move(at, key)
    const to = this.#links.indexOf(document.activeElement)
    this.#choose(this.#boxes.slice(Math.min(at, to), Math.max(at, to) + 1), true)
  }

  // Left and right go through the list; up and down to the row above or below.
  #move(at, key) {
    const links = this.#links
    if (key === "ArrowLeft" || key === "ArrowRight") return links[at + (key === "ArrowLeft" ? -1 : 1)]?.focus()
    const here = links[at].getBoundingClientRect()
    const up = key === "ArrowUp"
    let best = null
    for (const link of up ? links.slice(0, at).reverse() : links.slice(at + 1)) {
      const box = link.getBoundingClientRect()
      if (Math.abs(box.top - here.top) < 8) continue
      if (best && Math.abs(box.top - best.top) > 8) break
      const off = Math.abs(box.left - here.left)
      if (!best || off < best.off) best = { link, off, top: box.top }
    }
    best?.link.focus()
  }

  // In the dialog of one file, left and right show its neighbours.
  #step(e) {
    if ((e.key !== "ArrowLeft" && e.key !== "ArrowRight") || e.target.matches("video")) return
    const open = this.querySelector("dialog [data-asset]")?.dataset.asset
    const all = [...this.querySelectorAll(".asset")]
    const next = all[all.findIndex((a) => a.dataset.asset === open) + (e.key === "ArrowLeft" ? -1 : 1)]
    if (!open || !next) return
    e.preventDefault()
    next.querySelector(".asset-open").click()
  }

  // A video that somebody asked to see plays, unless they want stillness.
  #arrived() {
    this.#count()
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return
    this.querySelector("dialog video:not([data-seen])")?.play().catch(() => {})
    for (const v of this.querySelectorAll("dialog video")) v.dataset.seen = ""
  }
}
customElements.define("library-shelf", LibraryShelf)
