import { randomUUID } from 'node:crypto'
import type { IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { CellLost, type Failure, Kernel } from '../kernels/kernel.ts'
import type { JupyterServer } from '../kernels/jupyter-server.ts'
import { findLanguageRules } from '../languages/languages.ts'
import type { Variables } from '../variables/kernel-variables.ts'
import { Turns } from './turns.ts'

export interface CodeContextOptions {
  readonly language: string
  readonly directory: string
  readonly jupyter: JupyterServer
  readonly log: Logger
}

/** A context of clients: a language, a directory and the state of a kernel. The kernel starts with the first cell, or when it is asked to. */
export class CodeContext {
  readonly id = randomUUID()
  readonly language: string
  readonly directory: string
  readonly #jupyter: JupyterServer
  readonly #log: Logger
  readonly #turns = new Turns()
  /** Restarts and the removal come one after the other. */
  readonly #changes = new Turns()
  #kernel: Kernel | undefined
  #starting: Promise<Kernel> | undefined
  #sandboxVariables: Variables = {}
  #wasRestarted = false
  #isRemoved = false

  constructor({ language, directory, jupyter, log }: CodeContextOptions) {
    this.language = language
    this.directory = directory
    this.#jupyter = jupyter
    this.#log = log
  }

  /**
   * Runs a cell after those before it. When `signal` aborts, the cell is interrupted, and the next one waits until it has ended.
   * Returns a failure that the messages of the cell have not told.
   *
   * @throws CellLost when the context was restarted or removed, or its kernel has ended; AppError `resource_exhausted` when too many cells wait;
   * the abort reason when `signal` aborts before the cell began
   */
  async run(cell: Cell, signal: AbortSignal): Promise<Failure | undefined> {
    const giveBack = await this.#turns.take(signal)
    try {
      if (this.#isRemoved) throw new CellLost('the context has been removed')
      const kernel = await this.start()
      this.#wasRestarted = false
      if (cell.sandboxVariables !== undefined) this.#sandboxVariables = cell.sandboxVariables
      await this.#prepare(kernel, { ...this.#sandboxVariables, ...cell.variables }, signal)
      const rules = findLanguageRules(this.language)
      const failure = await kernel.run(cell.code, { onMessage: cell.onMessage, signal, fence: rules?.fence })
      return failure && (rules?.findSyntaxError?.(cell.code) ?? failure)
    } finally {
      giveBack()
    }
  }

  /** Whether the last cell was lost because somebody restarted the context. */
  get wasRestarted(): boolean {
    return this.#wasRestarted
  }

  /** The kernel, which is started when there is none. */
  async start(): Promise<Kernel> {
    if (this.#kernel !== undefined && !this.#kernel.isLost) return this.#kernel
    this.#starting ??= this.#startKernel()
    try {
      return await this.#starting
    } finally {
      this.#starting = undefined
    }
  }

  /**
   * Forgets all state. A cell that runs is lost, and cells that wait run in the new kernel.
   *
   * @throws AppError `not_found` when the context was removed meanwhile
   */
  async restart(): Promise<void> {
    const giveBack = await this.#changes.take()
    try {
      if (this.#isRemoved) throw new AppError('not_found', `Context ${this.id} not found`)
      this.#wasRestarted = true
      const kernel = this.#kernel
      if (kernel === undefined || kernel.isLost) await this.start()
      else await kernel.restart()
    } finally {
      giveBack()
    }
  }

  /** Ends the kernel for good. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    const giveBack = await this.#changes.take()
    try {
      await this.#starting?.catch(() => undefined)
      const kernel = this.#kernel
      this.#kernel = undefined
      if (kernel !== undefined && !kernel.isLost) await kernel.end()
    } finally {
      giveBack()
    }
  }

  /** The Jupyter server has ended, and the kernel with it. */
  loseKernel(): void {
    this.#kernel?.disconnect()
    this.#kernel = undefined
  }

  async #startKernel(): Promise<Kernel> {
    const settings = await this.#jupyter.settings()
    const { environment } = this.#jupyter
    const kernel = await Kernel.start({ language: this.language, directory: this.directory, environment, settings, log: this.#log })
    this.#kernel = kernel
    return kernel
  }

  /** The kernel may be kept busy by what an earlier cell has left behind, so that this, too, may never end by itself. */
  async #prepare(kernel: Kernel, wanted: Variables, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const rules = findLanguageRules(this.language)
    if (rules === undefined) return
    if (kernel.isFresh && rules.setup !== undefined) await kernel.run(rules.setup, { isSilent: true, signal })
    signal.throwIfAborted()
    kernel.isFresh = false
    const changes = kernel.variables.changesTo(wanted)
    if (changes === undefined) return
    const code = rules.toVariablesCode(changes)
    if (code !== '') await kernel.run(code, { isSilent: true, signal })
    signal.throwIfAborted()
    kernel.variables.apply(changes)
  }
}

export interface Cell {
  readonly code: string
  readonly variables: Variables
  /** Undefined when they are not known; the cell then sees those of the last cell. */
  readonly sandboxVariables: Variables | undefined
  readonly onMessage: (message: IIOPubMessage) => void
}
