// <order-list>: things whose order can be changed. One is dragged by its grip, with a
// mouse or, by a long press, a finger; the button data-place then tells the server
// which went where. The buttons that stand in each thing do the same by keys, and
// keep the focus where they are, or beside it once there is no further to go.
import { drags } from "./drag.js"

const THING = ".order-item"

class OrderList extends HTMLElement {
  #off
  #thing
  #to // where it would go: an index among the others

  get #things() { return [...this.querySelectorAll(`${THING}:not([aria-hidden])`)] }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    drags(this, THING, THING, {
      signal,
      grip: ".order-grip",
      lift: (thing, ghost) => this.#lift(thing, ghost),
      carry: (place, share) => this.#over(place, share),
      drop: () => this.#drop(),
      leave: () => this.#leave(),
    })
    document.addEventListener("htmx:finally:request", (e) => this.#answered(e.detail.ctx.sourceElement), { signal })
  }

  disconnectedCallback() { this.#off.abort() }

  // What is carried is a picture of the thing and not another one of the form's.
  #lift(thing, ghost) {
    this.#thing = thing
    for (const one of ghost.querySelectorAll("[name], [id]")) {
      one.removeAttribute("name")
      one.removeAttribute("id")
    }
    thing.toggleAttribute("data-held", true)
    this.toggleAttribute("data-dragging", true)
  }

  #over(place, share) {
    for (const one of this.#things) one.removeAttribute("data-over")
    this.#to = undefined
    if (!place || place === this.#thing) return
    const others = this.#things.filter((one) => one !== this.#thing)
    const after = share > 0.5
    place.dataset.over = after ? "after" : "before"
    this.#to = others.indexOf(place) + (after ? 1 : 0)
  }

  // The thing goes there at once; what the server answers replaces what was hoped.
  #drop() {
    const [thing, to] = [this.#thing, this.#to]
    this.#leave()
    if (to === undefined || this.#things.indexOf(thing) === to) return
    const others = this.#things.filter((one) => one !== thing)
    if (to < others.length) others[to].before(thing)
    else others.at(-1).after(thing)
    const button = this.querySelector("[data-place]")
    button.value = `${button.dataset.place}${thing.dataset.item}.${to}`
    button.click()
  }

  #leave() {
    for (const one of this.#things) one.removeAttribute("data-over")
    this.#thing?.removeAttribute("data-held")
    this.removeAttribute("data-dragging")
    this.#thing = this.#to = undefined
  }

  #answered(source) {
    const button = source?.id && document.getElementById(source.id)
    if (!button?.disabled || !this.contains(button)) return
    button.closest(THING)?.querySelector(".order-move:not(:disabled)")?.focus()
  }
}
customElements.define("order-list", OrderList)
