let isDone = false

/**
 * xterm writes the colours of true-colour text, of search matches and of raised contrast as style attributes of its spans, which the page's policy refuses
 * (`style-src-attr 'none'`). The same text set as a property is allowed.
 */
export function setSpanStylesByProperty(): void {
  if (isDone) return
  isDone = true
  HTMLSpanElement.prototype.setAttribute = function (this: HTMLSpanElement, name: string, value: string): void {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
