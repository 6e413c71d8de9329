// <crop-frame>: the part of a picture that a network shows, moved by a finger, a
// mouse or the keyboard. The numbers of its form are the truth; the drawing follows
// them. The picture is an SVG in its own pixels, so nothing has to be measured.
// whole is the whole number near a width whose height has least to be rounded.
function whole(width, shape) {
  const off = (w) => Math.abs(Math.round(w / shape) * shape / w - 1)
  let best = Math.max(1, Math.floor(width))
  for (let w = best; w > best - 10 && w > 0; w--) if (off(w) < off(best)) best = w
  return best
}

class CropFrame extends HTMLElement {
  #off
  #drag = null
  #fingers = new Map()

  get #all() { return { width: +this.dataset.width, height: +this.dataset.height } }
  get #field() { return this.querySelector("form").elements }
  get #svg() { return this.querySelector("svg") }
  get #window() { return this.querySelector(".crop-window") }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f) => target.addEventListener(type, f, { signal })
    on(this, "input", (e) => this.#typed(e))
    on(this.#window, "keydown", (e) => this.#key(e))
    on(this.#svg, "pointerdown", (e) => this.#press(e))
    on(this.#svg, "pointermove", (e) => this.#pull(e))
    for (const type of ["pointerup", "pointercancel"]) on(this.#svg, type, (e) => this.#let(e))
    document.querySelector(".crop-preset[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" })
    this.#draw()
  }

  disconnectedCallback() { this.#off.abort() }

  get part() {
    const f = this.#field
    return { x: +f.x.value, y: +f.y.value, width: +f.width.value, height: +f.height.value }
  }

  // shape is width over height, or null where the part may have any that the network
  // takes.
  get #shape() {
    const [w, h] = (this.#field.shape?.value ?? "free").split(":").map(Number)
    return h ? w / h : null
  }

  // set makes the numbers a part that lies in the picture and has the shape.
  #set({ x, y, width, height }) {
    const all = this.#all
    const shape = this.#shape ?? this.#allowed(width / height)
    width = Math.min(Math.max(width, Math.min(all.width, 20)), all.width, all.height * shape)
    const f = this.#field
    f.width.value = width = whole(width, shape)
    f.height.value = Math.max(1, Math.min(Math.round(width / shape), all.height))
    f.x.value = Math.round(Math.min(Math.max(x, 0), all.width - f.width.value))
    f.y.value = Math.round(Math.min(Math.max(y, 0), all.height - f.height.value))
    this.#draw()
  }

  #allowed(shape) {
    const most = +this.dataset.most || Infinity
    return Math.min(Math.max(shape, +this.dataset.least), most)
  }

  // around changes the size and keeps the middle.
  #around(width, height) {
    const p = this.part
    this.#set({ x: p.x + (p.width - width) / 2, y: p.y + (p.height - height) / 2, width, height })
  }

  #typed(e) {
    const p = this.part
    if (e.target.matches("[data-size]")) this.#around(this.#most() * e.target.value / 100, p.height * this.#most() * e.target.value / 100 / p.width)
    else if (e.target.name === "shape") this.#around(this.#most(), p.height)
    else this.#draw()
  }

  // most is the width of the largest part of the shape.
  #most() {
    const all = this.#all
    const p = this.part
    return Math.min(all.width, all.height * (this.#shape ?? p.width / p.height))
  }

  #key(e) {
    const p = this.part
    const step = Math.max(1, Math.round(Math.max(this.#all.width, this.#all.height) / (e.shiftKey ? 20 : 100)))
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[e.key]
    if (by) this.#set({ ...p, x: p.x + by[0], y: p.y + by[1] })
    else if (e.key === "+" || e.key === "=") this.#around(p.width * 1.05, p.height * 1.05)
    else if (e.key === "-") this.#around(p.width / 1.05, p.height / 1.05)
    else return
    e.preventDefault()
  }

  // at is where a pointer is, in the picture's pixels.
  #at(e) {
    const box = this.#svg.getScreenCTM().inverse()
    return new DOMPoint(e.clientX, e.clientY).matrixTransform(box)
  }

  #press(e) {
    if (e.button > 0) return
    this.#svg.setPointerCapture(e.pointerId)
    this.#fingers.set(e.pointerId, this.#at(e))
    const corner = e.target.dataset?.corner
    const p = this.part, at = this.#at(e)
    const inside = at.x >= p.x && at.x <= p.x + p.width && at.y >= p.y && at.y <= p.y + p.height
    this.#drag = { corner, from: at, part: p, spread: this.#spread() }
    if (!corner && !inside) this.#set({ ...p, x: at.x - p.width / 2, y: at.y - p.height / 2 })
    this.#window.focus({ preventScroll: true })
    e.preventDefault()
  }

  // spread is how far two fingers are apart; 0 with one.
  #spread() {
    const [a, b] = [...this.#fingers.values()]
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0
  }

  #pull(e) {
    if (!this.#fingers.has(e.pointerId)) return
    const at = this.#at(e)
    this.#fingers.set(e.pointerId, at)
    const { corner, from, part, spread } = this.#drag
    if (spread > 0) {
      const by = this.#spread() / spread
      this.#set({ x: part.x + part.width * (1 - by) / 2, y: part.y + part.height * (1 - by) / 2, width: part.width * by, height: part.height * by })
    } else if (corner) {
      this.#stretch(corner, part, at)
    } else {
      this.#set({ ...part, x: part.x + at.x - from.x, y: part.y + at.y - from.y })
    }
  }

  // stretch moves one corner; the one across stays.
  #stretch(corner, part, at) {
    const west = corner.endsWith("w"), north = corner.startsWith("n")
    const x = west ? part.x + part.width : part.x, y = north ? part.y + part.height : part.y
    const all = this.#all
    const room = { width: west ? x : all.width - x, height: north ? y : all.height - y }
    let width = Math.min(Math.max(20, Math.abs(at.x - x)), room.width), height = Math.min(Math.max(20, Math.abs(at.y - y)), room.height)
    const shape = this.#shape ?? this.#allowed(width / height)
    width = Math.min(Math.max(width, height * shape), room.width, room.height * shape)
    height = width / shape
    this.#set({ x: west ? x - width : x, y: north ? y - height : y, width, height })
  }

  #let(e) {
    this.#fingers.delete(e.pointerId)
    const [at] = this.#fingers.values()
    this.#drag = at ? { from: at, part: this.part, spread: 0 } : null
  }

  #draw() {
    const { x, y, width, height } = this.part
    const all = this.#all
    const put = (el, list) => { for (const [name, value] of Object.entries(list)) el.setAttribute(name, value) }
    put(this.querySelector(".crop-shade"), { d: `M0 0H${all.width}V${all.height}H0ZM${x} ${y}v${height}h${width}V${y}Z` })
    put(this.querySelector(".crop-edge"), { x, y, width, height })
    for (const c of this.querySelectorAll(".crop-corner")) {
      put(c, { cx: c.dataset.corner.endsWith("w") ? x : x + width, cy: c.dataset.corner.startsWith("n") ? y : y + height })
    }
    this.querySelector("[data-size]").value = Math.round(width / this.#most() * 100)
  }
}
customElements.define("crop-frame", CropFrame)

// <focal-point>: the point of a picture that crops keep in view. Its sliders are the
// truth; a touch of the picture moves them.
class FocalPoint extends HTMLElement {
  #off

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const { x, y } = this.querySelector("form").elements
    const { width, height } = this.dataset
    const svg = this.querySelector("svg")
    const draw = () => {
      const mark = this.querySelector(".focal-mark")
      mark.setAttribute("cx", x.value * width / 1000)
      mark.setAttribute("cy", y.value * height / 1000)
    }
    this.addEventListener("input", draw, { signal })
    svg.addEventListener("click", (e) => {
      const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse())
      x.value = at.x / width * 1000
      y.value = at.y / height * 1000
      draw()
    }, { signal })
  }

  disconnectedCallback() { this.#off.abort() }
}
customElements.define("focal-point", FocalPoint)
