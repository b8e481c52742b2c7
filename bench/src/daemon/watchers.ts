import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { unary } from '../http-call.ts'
import type { Daemon } from './daemons.ts'

const DEADLINE_MS = 5000

/** A directory that is watched until it is disposed. */
export interface Watcher extends AsyncDisposable {
  /** Calls `write` and resolves when the first event of `name`, which `write` causes, has arrived. */
  observe(name: string, write: () => void): Promise<void>
}

/** `WatchDir`, by the published SDK. */
export async function watchStreamed({ sandbox }: Daemon, folder: string): Promise<Watcher> {
  const awaited = new Awaited()
  const handle = await sandbox.files.watchDir(folder, ({ name }) => awaited.see(name), { user: 'user', timeoutMs: 0 })
  return { observe: (name, write) => awaited.observe(name, write), [Symbol.asyncDispose]: () => handle.stop() }
}

/** `CreateWatcher` and, right after the write, `GetWatcherEvents` until the event has arrived. */
export async function watchPolled(daemon: Daemon, folder: string): Promise<Watcher> {
  const call = async (method: string, message: unknown): Promise<unknown> =>
    JSON.parse((await daemon.send(unary(`/filesystem.Filesystem/${method}`, message))).toString())
  const { watcherId } = (await call('CreateWatcher', { path: folder })) as { watcherId: string }
  return {
    async observe(name, write) {
      write()
      const deadline = performance.now() + DEADLINE_MS
      while (true) {
        const { events = [] } = (await call('GetWatcherEvents', { watcherId })) as { events?: readonly { name: string }[] }
        if (events.some((event) => event.name === name)) return
        if (performance.now() > deadline) throw new Error(`no event of ${name} came`)
      }
    },
    [Symbol.asyncDispose]: async () => void (await call('RemoveWatcher', { watcherId })),
  }
}

/** The kernel's events in this process, without a daemon. */
export function watchBare(folder: string): Watcher {
  const awaited = new Awaited()
  const watcher = watch(folder, (_kind, name) => awaited.see(name ?? ''))
  return {
    observe: (name, write) => awaited.observe(name, write),
    async [Symbol.asyncDispose]() {
      watcher.close()
    },
  }
}

/** `inotifywait -m` on this machine; undefined when inotify-tools are not installed. */
export async function watchByInotifywait(folder: string): Promise<Watcher | undefined> {
  const awaited = new Awaited()
  const child = spawn('inotifywait', ['-m', '-e', 'create', '--format', '%f', folder], { stdio: ['ignore', 'pipe', 'pipe'] })
  // It prints to standard error when the watch is set.
  const started = once(child.stderr, 'data').then(() => true)
  if (!(await Promise.race([started, once(child, 'error').then(() => false)]))) return undefined
  child.stderr.resume()
  child.stdout.setEncoding('utf8').on('data', (lines: string) => lines.split('\n').forEach((line) => awaited.see(line)))
  return {
    observe: (name, write) => awaited.observe(name, write),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

/** A name whose event is awaited. */
class Awaited {
  #name = ''
  #seen: (() => void) | undefined

  see(name: string): void {
    if (name === this.#name) this.#seen?.()
  }

  async observe(name: string, write: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#name = name
    this.#seen = resolve
    write()
    const timer = new AbortController()
    try {
      const late = delay(DEADLINE_MS, undefined, { signal: timer.signal }).then(() => {
        throw new Error(`no event of ${name} came`)
      })
      await Promise.race([promise, late])
    } finally {
      timer.abort()
      this.#seen = undefined
    }
  }
}
