import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { MAX_SANDBOX_TERMINALS, MAX_TEAM_TERMINALS, MAX_TERMINALS } from '@sandyard/dashboard-contract/limits'
import type { TerminalView } from '@sandyard/dashboard-contract/processes'
import type { Change, ChangeFeed } from '../live/change-feed.ts'
import { getReachable, type ReachableSandbox, type RelayParts } from '../relay/sandbox-daemon.ts'
import { listShells } from './list-shells.ts'
import type { NewShell } from './shell-stream.ts'
import { killShell } from './kill-shell.ts'
import { Terminal } from './terminal.ts'
import type { TerminalSize } from './size-sender.ts'

export interface TerminalParts extends RelayParts {
  readonly feed: ChangeFeed
  readonly serverId: number
  /** Tells the other servers, soon. Never throws. */
  readonly tellOthers: (teamId: string, id: string) => void
  readonly log: Logger
}

export interface ShellRequest {
  readonly teamId: string
  readonly sandboxId: string
  readonly terminalId: string
  readonly user?: string | undefined
  readonly cwd?: string | undefined
  readonly cols: number
  readonly rows: number
}

/** The shells whose output this server keeps. */
export class Terminals implements Disposable {
  readonly #parts: TerminalParts
  readonly #all = new Map<string, Terminal>()
  readonly #stopListening: () => void

  constructor(parts: TerminalParts) {
    this.#parts = parts
    this.#stopListening = parts.feed.listen((change) => this.#hear(change))
  }

  /** Starts a shell, or finds the one with this id. @throws AppError */
  async open(request: ShellRequest, signal: AbortSignal): Promise<Terminal> {
    const { teamId, sandboxId, terminalId, user, cwd, cols, rows } = request
    const known = this.#find(teamId, terminalId)
    if (known !== undefined) return ready(known)
    const sandbox = await getReachable(this.#parts, teamId, sandboxId)
    // A lost answer: this server was restarted, or the page reaches another one now.
    const isRunning = await hasShell(sandbox, terminalId, signal)
    const fresh: NewShell | undefined = isRunning
      ? undefined
      : { user: user ?? sandbox.defaultUser, cwd: cwd === '' ? undefined : cwd, cols, rows }
    return ready(this.#find(teamId, terminalId) ?? this.#add(terminalId, sandbox, fresh, { cols, rows }))
  }

  /**
   * @param request `sandboxId` undefined: only a shell that this server knows
   * @throws AppError `not_found` for an ended one, `unavailable` for one that another server may know
   */
  async attach(
    request: Pick<ShellRequest, 'teamId' | 'terminalId' | 'cols' | 'rows'> & { readonly sandboxId: string | undefined },
    signal: AbortSignal,
  ): Promise<Terminal> {
    const { teamId, terminalId, sandboxId, cols, rows } = request
    const known = this.#find(teamId, terminalId)
    if (known !== undefined) return ready(known)
    if (sandboxId === undefined) throw new AppError('unavailable', 'This server does not know the shell: another one may')
    const sandbox = await getReachable(this.#parts, teamId, sandboxId)
    if (!(await hasShell(sandbox, terminalId, signal))) throw new AppError('not_found', 'The shell has ended')
    return ready(this.#find(teamId, terminalId) ?? this.#add(terminalId, sandbox, undefined, { cols, rows }))
  }

  /** The terminals of a sandbox: those that this server keeps, and the other shells that run in the sandbox. */
  async list(teamId: string, sandboxId: string, signal: AbortSignal): Promise<TerminalView[]> {
    const own = [...this.#all.values()].filter((terminal) => terminal.teamId === teamId && terminal.sandboxId === sandboxId)
    const running = await this.#othersOf(teamId, sandboxId, signal)
    const others = running.filter(({ terminalId }) => !this.#all.has(terminalId))
    return [...own.map(({ view }) => view), ...others]
  }

  /** Ends a shell, whichever server keeps it: that one tells its viewers. @throws AppError */
  async kill(teamId: string, sandboxId: string, terminalId: string, signal: AbortSignal): Promise<void> {
    const known = this.#find(teamId, terminalId)
    if (known !== undefined && known.exit !== null) return this.#forget(known)
    await killShell(await getReachable(this.#parts, teamId, sandboxId), terminalId, signal)
  }

  async #othersOf(teamId: string, sandboxId: string, signal: AbortSignal): Promise<TerminalView[]> {
    try {
      return await listShells(await getReachable(this.#parts, teamId, sandboxId), signal)
    } catch {
      // It does not run, or does not answer: what this server knows is all.
      return []
    }
  }

  #find(teamId: string, terminalId: string): Terminal | undefined {
    const terminal = this.#all.get(terminalId)
    if (terminal !== undefined && terminal.teamId !== teamId) throw new AppError('not_found', 'The shell has ended')
    return terminal
  }

  #add(terminalId: string, sandbox: ReachableSandbox, fresh: NewShell | undefined, size: TerminalSize): Terminal {
    this.#assertRoom(sandbox)
    const { teamId, sandboxId } = sandbox
    const terminal: Terminal = new Terminal(this.#parts, {
      terminalId,
      sandbox,
      fresh,
      size,
      onChange: () => this.#parts.feed.tell({ kind: 'terminal', id: sandboxId, teamId }),
      onUnused: () => this.#endUnused(terminal),
    })
    this.#all.set(terminalId, terminal)
    this.#parts.tellOthers(teamId, `${sandboxId}:${terminalId}:${this.#parts.serverId}`)
    return terminal
  }

  /** Ended shells make room. @throws AppError `resource_exhausted` */
  #assertRoom({ teamId, sandboxId }: ReachableSandbox): void {
    const count = (is: (terminal: Terminal) => boolean): number => [...this.#all.values()].filter(is).length
    const caps: readonly [number, (terminal: Terminal) => boolean, string][] = [
      [MAX_SANDBOX_TERMINALS, (terminal) => terminal.sandboxId === sandboxId, 'of this sandbox'],
      [MAX_TEAM_TERMINALS, (terminal) => terminal.teamId === teamId, 'of your team'],
      [MAX_TERMINALS, () => true, 'of this server'],
    ]
    for (const [cap, is, words] of caps) {
      if (count(is) < cap) continue
      const ended = [...this.#all.values()].find((terminal) => is(terminal) && terminal.exit !== null && terminal.viewers.count === 0)
      if (ended === undefined) throw new AppError('resource_exhausted', `The ${cap} shells ${words} are in use: end one first`)
      this.#forget(ended)
    }
  }

  #endUnused(terminal: Terminal): void {
    if (terminal.viewers.count > 0) return
    const { sandboxId, terminalId } = terminal
    void terminal
      .kill(AbortSignal.timeout(60_000))
      .catch((err: unknown) => this.#parts.log.warn({ err, sandboxId, terminalId }, 'an unused shell could not be ended'))
      .finally(() => this.#forget(terminal))
  }

  /** The shell goes on. */
  #forget(terminal: Terminal): void {
    this.#all.delete(terminal.terminalId)
    terminal[Symbol.dispose]()
    this.#parts.feed.tell({ kind: 'terminal', id: terminal.sandboxId, teamId: terminal.teamId })
  }

  /** Another server has taken a shell over: this one must not end it, when nobody looks at it here. */
  #hear(change: Change): void {
    if (change.kind !== 'terminal') return
    const [, terminalId = '', serverId] = change.id.split(':')
    const terminal = this.#all.get(terminalId)
    if (terminal === undefined || serverId === String(this.#parts.serverId) || terminal.teamId !== change.teamId) return
    if (terminal.viewers.count === 0) this.#forget(terminal)
  }

  [Symbol.dispose](): void {
    this.#stopListening()
    for (const terminal of this.#all.values()) terminal[Symbol.dispose]()
    this.#all.clear()
  }
}

async function ready(terminal: Terminal): Promise<Terminal> {
  await terminal.ready
  return terminal
}

async function hasShell(sandbox: ReachableSandbox, terminalId: string, signal: AbortSignal): Promise<boolean> {
  return (await listShells(sandbox, signal)).some((shell) => shell.terminalId === terminalId)
}
