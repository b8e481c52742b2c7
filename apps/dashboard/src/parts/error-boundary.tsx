import { Component, type ComponentChildren } from 'preact'
import { ErrorBoundary as LazyBoundary } from 'preact-iso/lazy'
import { frameTexts } from '../texts/frame-texts.ts'

interface Props {
  /** Of the panel, for its message. */
  readonly name: string
  readonly children: ComponentChildren
}

/** Keeps the error of a panel in the panel. Lazy parts below it are waited for here, so the rest of the page stays as it is. */
export class ErrorBoundary extends Component<Props, { error: Error | undefined }> {
  override state = { error: undefined }

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  render({ name, children }: Props, { error }: { error: Error | undefined }) {
    if (error === undefined) return <LazyBoundary>{children}</LazyBoundary>
    return (
      <div class="notice notice-failed" role="alert">
        <p class="grow">{frameTexts.panelFailed(name, error.message)}</p>
        <button type="button" class="button" onClick={() => this.setState({ error: undefined })}>
          {frameTexts.tryAgain}
        </button>
      </div>
    )
  }
}
