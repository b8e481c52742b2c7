import { signal } from '@preact/signals'

export interface Toast {
  readonly id: number
  readonly kind: 'done' | 'failed' | 'running'
  readonly text: string
}

const MOST = 5
const shown = signal<readonly Toast[]>([])
let lastId = 0

/** Says something for a while. `failed` stays until it is closed. In the frame's bundle, so that it works offline. Returns how to close it. */
export function toast(kind: Toast['kind'], text: string): () => void {
  lastId += 1
  const id = lastId
  const close = (): void => {
    shown.value = shown.value.filter((other) => other.id !== id)
  }
  shown.value = [...shown.value, { id, kind, text }].slice(-MOST)
  if (kind === 'done') setTimeout(close, 6000)
  return close
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, kind, text }) => (
        <p key={id} class={`toast toast-${kind}`}>
          {text}
        </p>
      ))}
    </div>
  )
}
