import { closeSync } from 'node:fs'
import { AppError } from '@sandyard/kit/errors/app-error'
import { InputPipe, stdinClosed } from './input-pipe.ts'
import type { OutputEvent } from './subscription.ts'
import { OutputPipe } from './output-pipe.ts'
import type { ProcessStreams } from './process-streams.ts'

export interface Pipes {
  readonly stdin: number | undefined
  readonly stdout: number
  readonly stderr: number
}

/** Separate pipes for the standard streams. The input may be missing: the process then reads end of file at once. */
export class PipeStreams implements ProcessStreams {
  readonly outputs: readonly OutputPipe[]
  readonly #input: InputPipe | undefined

  /**
   * @param pipes are closed by this object, also if the constructor throws
   * @param publish false stops the reading until the outputs are resumed
   */
  constructor({ stdin, stdout, stderr }: Pipes, pid: number, publish: (event: OutputEvent) => boolean) {
    const close = new Map<number, () => void>()
    for (const fd of [stdout, stderr, stdin]) if (fd !== undefined) close.set(fd, () => closeSync(fd))
    const openOutput = (fd: number, kind: 'stdout' | 'stderr'): OutputPipe => {
      const output = new OutputPipe(fd, (bytes) => publish({ kind, bytes }))
      close.set(fd, () => output.close())
      return output
    }
    try {
      this.outputs = [openOutput(stdout, 'stdout'), openOutput(stderr, 'stderr')]
      this.#input = stdin === undefined ? undefined : new InputPipe(stdin, pid)
    } catch (error) {
      for (const closeOne of close.values()) closeOne()
      throw error
    }
  }

  async writeStdin(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#input === undefined) throw stdinClosed()
    await this.#input.write(bytes, signal)
  }

  writeTerminal(): Promise<void> {
    throw new AppError('internal', 'error writing to tty: tty not assigned to process — input should be written to the stdin, not the tty')
  }

  closeStdin(): void {
    this.#input?.end()
  }

  resize(): void {
    throw new AppError('internal', 'error resizing tty: tty not assigned to process')
  }

  close(): void {
    for (const output of this.outputs) output.close()
    this.#input?.destroy()
  }
}
