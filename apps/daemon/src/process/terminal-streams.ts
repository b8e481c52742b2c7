import { closeSync } from 'node:fs'
import { AppError } from '@sandyard/kit/errors/app-error'
import { duplicate } from '../sys/descriptors.ts'
import { resizeTerminal, type TerminalSize } from '../sys/pseudo-terminal.ts'
import type { ProcessStreams } from './process-streams.ts'
import type { OutputEvent } from './subscription.ts'
import { TerminalInput } from './terminal-input.ts'
import { TerminalOutput } from './terminal-output.ts'

/** One terminal for all standard streams of a process. */
export class TerminalStreams implements ProcessStreams {
  readonly outputs: readonly TerminalOutput[]
  readonly #output: TerminalOutput
  readonly #input: TerminalInput
  readonly #master: number
  #isOpen = true

  /**
   * @param master is closed by this object, also if the constructor throws
   * @param publish false stops the reading until the output is resumed
   * @throws the system error if there is no free descriptor
   */
  constructor(master: number, pid: number, publish: (event: OutputEvent) => boolean) {
    const opened = [master]
    try {
      this.#master = duplicate(master)
      opened.push(this.#master)
      this.#input = new TerminalInput(this.#master, pid)
      this.#output = new TerminalOutput(master, (bytes) => {
        // A program that reads what was written often answers.
        this.#input.wake()
        return publish({ kind: 'pty', bytes })
      })
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    }
    this.outputs = [this.#output]
  }

  writeStdin(): Promise<void> {
    throw new AppError('internal', 'error writing to stdin: tty assigned to process — input should be written to the pty, not the stdin')
  }

  writeTerminal(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#input.write(bytes, signal)
  }

  closeStdin(): void {
    throw new AppError('unknown', 'error closing stdin: cannot close stdin for PTY process — send Ctrl+D (0x04) instead')
  }

  resize(size: TerminalSize): void {
    if (this.#isOpen) resizeTerminal(this.#master, size)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#output.close()
    this.#input.close()
    closeSync(this.#master)
  }
}
