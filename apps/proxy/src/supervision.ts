/**
 * The proxy as a child process: its messages with the parent over the IPC channel. A proxy that was started without
 * a parent (Compose, a service manager) runs without the channel.
 */
import type { Registry } from 'prom-client'

/** From the parent: a request for the metrics, which also shows that the event loop is not blocked. */
export interface MetricsRequest {
  readonly kind: 'metrics'
  readonly id: number
}

/** From the parent: the URL of the control plane, which gets its port after the proxy. */
export interface ApiAddress {
  readonly kind: 'api'
  readonly url: string
}

type ParentMessage = MetricsRequest | ApiAddress

/** From the proxy. */
export type ProxyReport =
  | { readonly kind: 'listening'; readonly port: number }
  /** The proxy could not start. `code` is an error code of the system, such as `EADDRINUSE`. */
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'metrics'; readonly id: number; readonly page: string }

/** Sends a report to the parent, if there is one; resolves when it was handed over. */
export async function report(message: ProxyReport): Promise<void> {
  if (process.send === undefined || !process.connected) return
  // If the parent died meanwhile, the end of the channel shows it.
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
}

/**
 * Answers the parent's requests. When the parent dies for any reason, the channel closes and this process ends at once, because the
 * next server needs the port.
 */
export function obeyParent(registry: Registry): void {
  if (process.send === undefined) return
  // The parent may have died while the modules of this process were loaded; that event had no listener.
  if (!process.connected) process.exit(1)
  process.once('disconnect', () => process.exit(1))
  process.on('message', (message: ParentMessage) => {
    if (message.kind === 'metrics') void registry.metrics().then((page) => report({ kind: 'metrics', id: message.id, page }))
  })
}

/** Passes on the address of the control plane when the parent sends it. */
export function followApi(onApi: (url: string) => void): void {
  process.on('message', (message: ParentMessage) => {
    if (message.kind === 'api') onApi(message.url)
  })
}
