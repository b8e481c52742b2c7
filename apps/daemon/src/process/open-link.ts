import { closeSync } from 'node:fs'
import { openPipe } from '../sys/descriptors.ts'
import { openPseudoTerminal, type TerminalSize } from '../sys/pseudo-terminal.ts'
import type { Account } from '../users/account-database.ts'
import { asAccount } from './as-account.ts'
import type { Pipes } from './pipe-streams.ts'

/** A terminal or pipes. Without `stdin` the process reads end of file at once. */
export type LinkRequest = { readonly terminal: TerminalSize } | { readonly stdin: boolean }

/** The descriptors that connect the daemon with a process, before its start. */
export interface Link {
  /** The daemon's ends. The caller closes them. */
  readonly own: Pipes | { readonly master: number }
  /** The process's ends: descriptors for 0, 1 and 2, or the path of a terminal. */
  readonly stdio: readonly [number, number, number] | string
  /** Closes the daemon's copies of the process's ends after the start. */
  closeOther(): void
  closeOwn(): void
}

/**
 * Opens a terminal or pipes that belong to the account. They are real pipes, because a child cannot open `/dev/stdout` if it is a socket (as
 * with Node's spawn) or belongs to another account.
 *
 * @param noInput a descriptor of `/dev/null`
 */
export function openLink(request: LinkRequest, account: Account, noInput: number): Link {
  return asAccount(account, () => ('terminal' in request ? openTerminal(request.terminal) : openPipes(request.stdin, noInput)))
}

function openTerminal(size: TerminalSize): Link {
  const { master, path } = openPseudoTerminal(size)
  return { own: { master }, stdio: path, closeOther: () => undefined, closeOwn: () => closeSync(master) }
}

function openPipes(wantsInput: boolean, noInput: number): Link {
  const opened: ReturnType<typeof openPipe>[] = []
  function pipe(): ReturnType<typeof openPipe> {
    const ends = openPipe()
    opened.push(ends)
    return ends
  }
  try {
    const [stdout, stderr, stdin] = [pipe(), pipe(), wantsInput ? pipe() : undefined]
    const own = { stdin: stdin?.write, stdout: stdout.read, stderr: stderr.read }
    return {
      own,
      stdio: [stdin?.read ?? noInput, stdout.write, stderr.write],
      closeOther: () => closeAll([stdin?.read, stdout.write, stderr.write]),
      closeOwn: () => closeAll([stdin?.write, stdout.read, stderr.read]),
    }
  } catch (error) {
    closeAll(opened.flatMap(({ read, write }) => [read, write]))
    throw error
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd)
}
