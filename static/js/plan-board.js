// <plan-board>: cards of the calendar go to another day or hour, one or several,
// by mouse, by a long press, or by keyboard: M picks up, arrows choose, Enter
// drops, Escape leaves it; X, or Shift and a click, chooses. A drop fills the form
// and sends it; a click on an empty place begins a post there. Nothing moves before the server says so; a refused card is where
// it was.
import { drags } from "./drag.js"

const CARD = "[data-card]"
const PLACE = ".day, .slot, .tray"
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 0, ArrowDown: 0 }

class PlanBoard extends HTMLElement {
  #off
  #held = []
  #place
  #clock = ""
  #keys = false
  #back // the card that gets the focus again

  get #form() { return this.querySelector(".plan-form") }
  get #hours() { return this.dataset.kind === "hours" }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f, options) => target.addEventListener(type, f, { signal, ...options })
    drags(this, CARD, PLACE, {
      signal,
      lift: (card) => this.#lift(card),
      carry: (place, share) => this.#over(place, this.#quarter(share)),
      drop: () => this.#drop(),
      leave: () => this.#leave(),
    })
    on(this, "click", (e) => this.#click(e), { capture: true })
    on(this, "keydown", (e) => this.#key(e))
    on(this, "focusout", () => { if (this.#keys) this.#leave() })
    on(document, "keydown", (e) => this.#undo(e))
    on(document, "htmx:finally:request", (e) => this.#answered(e.detail.ctx.sourceElement))
  }

  disconnectedCallback() { this.#off.abort() }

  #click(e) {
    if (e.target.matches(PLACE) || e.target.matches(".day-head, .day-cards")) return this.#begin(e.target.closest(PLACE), e)
    const card = e.target.closest(CARD)
    if (!card || !e.shiftKey) return
    e.preventDefault()
    e.stopPropagation()
    this.#toggle(card)
  }

  #toggle(card) {
    card.toggleAttribute("data-chosen")
    const n = this.querySelectorAll("[data-chosen]").length
    const words = n === 1 ? "One post chosen" : `${n} posts chosen`
    this.#say(words)
    this.#offer(n, words)
  }

  // What can be done with chosen posts besides moving them is done in the list.
  #offer(n, words) {
    const form = this.querySelector(".plan-chosen")
    form.hidden = n === 0
    form.querySelector("[data-chosen-words]").textContent = words
    form.elements.card.value = [...this.querySelectorAll("[data-chosen]")].map((card) => card.dataset.card).join(" ")
  }

  // A post for that day, and for the quarter of an hour that was clicked.
  #begin(place, e) {
    const form = this.querySelector(".plan-begin")
    if (!form || place.matches("[data-past], [data-skipped], .tray") || this.querySelector("[data-chosen]")) return
    const box = place.getBoundingClientRect()
    this.#fill(form, place, this.#at(place, this.#quarter((e.clientY - box.top) / box.height)))
    place.tabIndex = -1
    place.focus({ preventScroll: true }) // and has the focus again once the post is begun
    form.requestSubmit()
  }

  #quarter(share) { return this.#hours ? Math.min(3, Math.max(0, Math.floor(share * 4))) * 15 : 0 }

  #at(place, minutes) { return place.dataset.clock ? place.dataset.clock.slice(0, 3) + String(minutes).padStart(2, "0") : "" }

  #fill(form, place, clock) {
    form.elements.day.value = place.dataset.day ?? place.id.slice("day-".length)
    form.elements.clock.value = clock
  }

  #lift(card) {
    this.#held = card.hasAttribute("data-chosen") ? [card, ...this.querySelectorAll(`${CARD}[data-chosen]`)] : [card]
    this.toggleAttribute("data-dragging", true)
    for (const one of this.#held) one.toggleAttribute("data-held", true)
  }

  // minutes past the hour that the place shows
  #over(place, minutes) {
    this.#place?.removeAttribute("data-over")
    this.#place = place
    place?.toggleAttribute("data-over", true)
    this.#clock = place ? this.#at(place, minutes) : ""
    const shown = this.querySelector(".ghost > time")
    if (shown && this.#clock) shown.textContent = this.#clock
  }

  #drop() {
    const [place, clock, held] = [this.#place, this.#clock, this.#held]
    this.#leave(place !== null && place !== undefined)
    if (!place || place === held[0].closest(PLACE) && !clock) return
    const form = this.#form
    form.elements.card.value = [...new Set(held.map((card) => card.dataset.card))].join(" ")
    this.#fill(form, place, clock)
    for (const card of held) card.setAttribute("aria-busy", "true")
    form.requestSubmit()
  }

  #leave(dropped = false) {
    if (!dropped && this.#keys) this.#say("Left where it was")
    for (const card of this.#held) card.removeAttribute("data-held")
    this.#place?.removeAttribute("data-over")
    this.removeAttribute("data-dragging")
    this.#held = []
    this.#place = undefined
    this.#keys = false
  }

  #answered(source) {
    if (source !== this.#form) return
    for (const card of this.querySelectorAll(`${CARD}[aria-busy]`)) card.removeAttribute("aria-busy")
    if (!this.#back) return
    const card = [...this.querySelectorAll(CARD)].find((one) => one.getAttribute("href") === this.#back)
    this.#back = undefined
    card?.focus()
  }

  #key(e) {
    const card = e.target.closest(CARD)
    if (!card || e.ctrlKey || e.metaKey || e.altKey) return
    if (this.#keys) return this.#carry(e, card)
    const key = e.key.toLowerCase()
    if (key === "x") this.#toggle(card)
    else if (key === "m") this.#pick(card)
    else if (e.key === "Escape") for (const one of this.querySelectorAll("[data-chosen]")) one.removeAttribute("data-chosen")
    else return
    e.preventDefault()
  }

  #pick(card) {
    this.#lift(card)
    this.#keys = true
    const place = card.closest(PLACE)
    this.#over(place, this.#hours ? Number(card.querySelector("time").textContent.slice(3, 5)) : 0)
    this.#say(`Picked up. ${this.#named(place)}. Arrows choose the place, Enter drops, Escape leaves it.`)
  }

  #carry(e, card) {
    e.preventDefault()
    e.stopPropagation()
    if (e.key === "Escape") return this.#leave()
    if (e.key === "Enter" || e.key === " ") {
      this.#back = card.getAttribute("href")
      return this.#drop()
    }
    if (!(e.key in STEPS)) return
    const places = [...this.querySelectorAll(PLACE)]
    const row = this.#hours ? this.querySelectorAll("thead th").length - 1 : 7
    const by = STEPS[e.key] || (e.key === "ArrowUp" ? -row : row)
    const next = places[places.indexOf(this.#place) + by]
    if (!next) return
    this.#over(next, this.#hours ? Number(this.#clock.slice(3)) : 0)
    next.scrollIntoView({ block: "nearest" })
    this.#say(this.#named(next))
  }

  #named(place) {
    const name = place.dataset.label ?? place.querySelector(".day-link")?.getAttribute("aria-label")
    return place.hasAttribute("data-past") ? `${name}, over` : place.hasAttribute("data-skipped") ? `${name}, the clocks skip it` : name
  }

  #undo(e) {
    if (e.key !== "z" || !(e.ctrlKey || e.metaKey) || e.target.closest("input, textarea, select, [contenteditable]")) return
    const button = document.querySelector("#notices .notice-act button")
    if (!button) return
    e.preventDefault()
    button.click()
  }

  #say(words) { this.querySelector("[data-say]").textContent = words }
}
customElements.define("plan-board", PlanBoard)
