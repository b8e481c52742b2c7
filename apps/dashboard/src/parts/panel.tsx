import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ErrorBoundary } from './error-boundary.tsx'

export interface PanelProps {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
  /** The children bring their own distances: a table. */
  readonly isFlush?: boolean
}

/** A part of a screen with a title and an error boundary of its own. */
export function Panel({ title, actions, children, isFlush = false }: PanelProps) {
  const titleId = useId()
  return (
    <section class="panel" aria-labelledby={titleId}>
      <div class="panel-head">
        <h2 id={titleId}>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      <div class={isFlush ? undefined : 'panel-body'}>
        <ErrorBoundary name={title}>{children}</ErrorBoundary>
      </div>
    </section>
  )
}
