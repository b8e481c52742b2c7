/**
 * A program as a child process of the standalone server: its messages with the parent over the IPC channel. A program that was started
 * without a parent (Compose, a service manager) runs without the channel.
 */

/** From the parent: a request for the metrics, which also shows that the event loop is not blocked. */
export interface MetricsRequest {
  readonly kind: 'metrics'
  readonly id: number
}

/** From the parent: settings that it learns after the start of the child. */
export interface LateSettings {
  readonly kind: 'settings'
  readonly settings: Readonly<Record<string, string>>
}

type ParentMessage = MetricsRequest | LateSettings

/** From the child. */
export type ChildReport =
  | { readonly kind: 'listening'; readonly port: number }
  /** It could not start. `code` is an error code of the system, such as `EADDRINUSE`. */
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'metrics'; readonly id: number; readonly page: string }

/** Metrics in Prometheus' text format; a `Registry` of prom-client is one. */
interface MetricsSource {
  metrics(): Promise<string>
}

/** Sends a report to the parent, if there is one; resolves when it was handed over. */
export async function report(message: ChildReport): Promise<void> {
  if (process.send === undefined || !process.connected) return
  // If the parent died meanwhile, the end of the channel shows it.
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
}

/**
 * Answers the parent's requests. When the parent dies for any reason, the channel closes and this process ends at once, because the
 * next server needs the port.
 */
export function obeyParent(metrics: MetricsSource): void {
  if (process.send === undefined) return
  // The parent may have died while the modules of this process were loaded; that event had no listener.
  if (!process.connected) process.exit(1)
  process.once('disconnect', () => process.exit(1))
  process.on('message', (message: ParentMessage) => {
    if (message.kind === 'metrics') void metrics.metrics().then((page) => report({ kind: 'metrics', id: message.id, page }))
  })
}

/** Passes on the value of a setting when the parent sends it. */
export function followSetting(name: string, onValue: (value: string) => void): void {
  process.on('message', (message: ParentMessage) => {
    const value = message.kind === 'settings' ? message.settings[name] : undefined
    if (value !== undefined) onValue(value)
  })
}
