import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

export interface MenuProps {
  /** Of the button, when it shows an icon only; also the name of the menu. */
  readonly label: string
  readonly button: ComponentChildren
  readonly buttonClass?: string
  readonly disabled?: boolean
  /** Buttons and links. The menu closes when one is used, unless it is inside an element with `data-keep-open`. */
  readonly children: ComponentChildren
  readonly onOpen?: () => void
}

const MARGIN = 6

/** A button with a menu below it. The arrow keys go through the items, Escape closes it. */
export function Menu({ label, button, buttonClass = 'button', disabled = false, children, onOpen }: MenuProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const toggled = (event: ToggleEvent): void => {
    const isOpen = event.newState === 'open'
    opener.current?.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen || opener.current === null || menu.current === null) return
    place(menu.current, opener.current.getBoundingClientRect())
    itemsOf(menu.current)[0]?.focus()
  }
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        disabled={disabled}
        popovertarget={id}
        aria-label={label}
        title={label}
        aria-haspopup="true"
        aria-expanded={false}
        onClick={onOpen}
      >
        {button}
      </button>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys and clicks of its items come through here */}
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="menu"
        role="group"
        aria-label={label}
        onToggle={toggled as never}
        onKeyDown={(event) => {
          if (menu.current !== null) moveFocus(event, menu.current)
        }}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('button, a') !== null && target.closest('[data-keep-open]') === null)
            menu.current?.hidePopover()
        }}
      >
        {children}
      </div>
    </>
  )
}

/** Below the button, or above it, inside the window. By properties: the policy forbids style attributes. */
function place(menu: HTMLElement, at: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = menu
  const left = at.left + width + MARGIN > innerWidth ? at.right - width : at.left
  const isBelow = at.bottom + height + MARGIN <= innerHeight || at.top < innerHeight / 2
  menu.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`
  menu.style.top = `${isBelow ? at.bottom + 3 : Math.max(MARGIN, at.top - height - 3)}px`
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('button:not(:disabled), a, input, select')]
}

function moveFocus(event: KeyboardEvent, menu: HTMLElement): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0 || (event.target instanceof HTMLElement && event.target.matches('select, textarea'))) return
  const items = itemsOf(menu)
  const next = items[(items.indexOf(document.activeElement as HTMLElement) + step + items.length) % items.length]
  event.preventDefault()
  next?.focus()
}
