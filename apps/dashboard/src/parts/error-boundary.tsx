import { Component, type ComponentChildren } from 'preact'

interface Props {
  /** Of the panel, for its message. */
  readonly name: string
  readonly children: ComponentChildren
}

/** Keeps the error of a panel in the panel. */
export class ErrorBoundary extends Component<Props, { error: Error | undefined }> {
  override state = { error: undefined }

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  render({ name, children }: Props, { error }: { error: Error | undefined }) {
    if (error === undefined) return children
    return (
      <div class="notice notice-failed" role="alert">
        <p>
          The {name} could not be shown: {error.message}
        </p>
        <button type="button" class="button" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>
      </div>
    )
  }
}
