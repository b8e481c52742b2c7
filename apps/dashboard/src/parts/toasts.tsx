import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { frameTexts } from '../texts/frame-texts.ts'
import { Icon } from './icon.tsx'

export interface ToastAction {
  readonly label: string
  readonly run: () => void
}

export interface Toast {
  readonly id: number
  readonly kind: 'done' | 'failed' | 'running'
  readonly text: string
  readonly action: ToastAction | undefined
}

const MOST = 5
const DONE_MS = 6000
const shown = signal<readonly Toast[]>([])
let lastId = 0

/**
 * Says something for a while. `failed` and `running` stay until they are closed. In the frame's bundle, so that it works offline. Returns how to
 * close it. `action` is a button that closes it and does something more.
 */
export function toast(kind: Toast['kind'], text: string, action?: ToastAction): () => void {
  lastId += 1
  const id = lastId
  const close = (): void => {
    shown.value = shown.value.filter((other) => other.id !== id)
  }
  const former = shown.value.filter((other) => other.text !== text || other.action !== undefined)
  shown.value = [...former, { id, kind, text, action }].slice(-MOST)
  if (kind === 'done') setTimeout(close, DONE_MS)
  return close
}

/** Over everything, also over an open dialog: that is what a manual popover is for. */
export function Toasts() {
  const element = useRef<HTMLDivElement>(null)
  const toasts = shown.value
  useEffect(() => {
    element.current?.hidePopover?.()
    if (toasts.length > 0) element.current?.showPopover?.()
  }, [toasts])
  return (
    <div ref={element} popover="manual" class="toasts">
      <div role="status" aria-live="polite" class="stack">
        {toasts.map(({ id, kind, text, action }) => (
          <div key={id} class={`toast toast-${kind}`}>
            <span class="grow">{text}</span>
            {action !== undefined && (
              <button
                type="button"
                class="button button-small"
                onClick={() => {
                  close(id)
                  action.run()
                }}
              >
                {action.label}
              </button>
            )}
            <button
              type="button"
              class="button button-small button-icon button-quiet"
              aria-label={frameTexts.close}
              onClick={() => close(id)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </div>
  )
}

function close(id: number): void {
  shown.value = shown.value.filter((other) => other.id !== id)
}
