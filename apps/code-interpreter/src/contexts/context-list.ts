import { stat } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { JupyterServer } from '../kernels/jupyter-server.ts'
import { listLanguages } from '../kernels/list-languages.ts'
import { DEFAULT_LANGUAGE } from '../languages/languages.ts'
import { CodeContext } from './code-context.ts'

/** Each may have a process. */
const MAX_CONTEXTS = 100

export interface ContextListOptions {
  /** The directory of contexts that name none. */
  readonly directory: string
  readonly jupyter: JupyterServer
  readonly log: Logger
}

/** The contexts of the sandbox, in the order of their creation. Each language has a default one, for cells that name no context. */
export class ContextList {
  readonly #options: ContextListOptions
  readonly #contexts = new Map<string, CodeContext>()
  readonly #defaults = new Map<string, CodeContext>()

  constructor(options: ContextListOptions) {
    this.#options = options
    for (const language of [DEFAULT_LANGUAGE, 'javascript']) this.#defaults.set(language, this.#add(language, options.directory))
  }

  list(): readonly CodeContext[] {
    return [...this.#contexts.values()]
  }

  /** @throws AppError `not_found` */
  get(id: string): CodeContext {
    const context = this.#contexts.get(id)
    if (context === undefined) throw new AppError('not_found', `Context ${id} not found`)
    return context
  }

  /**
   * The context of cells that name only a language. It is made by the first of them, and again after it was removed.
   *
   * @throws AppError `invalid_argument` for a language without a kernel
   */
  async getDefault(language: string): Promise<CodeContext> {
    await this.#check(language)
    const existing = this.#defaults.get(language)
    if (existing !== undefined) return existing
    const made = this.#add(language, this.#options.directory)
    this.#defaults.set(language, made)
    return made
  }

  /**
   * A new context with a started kernel.
   *
   * @throws AppError `invalid_argument` for a language without a kernel and for a directory that does not exist, `resource_exhausted`
   */
  async create(language: string, directory = this.#options.directory): Promise<CodeContext> {
    await this.#check(language)
    const facts = await stat(directory).catch(() => undefined)
    if (facts?.isDirectory() !== true || !directory.startsWith('/')) {
      throw new AppError('invalid_argument', `Failed to set working directory: ${directory} is not an absolute path of a directory`)
    }
    const context = this.#add(language, directory)
    try {
      await context.start()
    } catch (err) {
      this.#contexts.delete(context.id)
      throw err
    }
    return context
  }

  /** @throws AppError `not_found` */
  async remove(id: string): Promise<void> {
    const context = this.get(id)
    this.#contexts.delete(id)
    if (this.#defaults.get(context.language) === context) this.#defaults.delete(context.language)
    await context.remove()
  }

  /** The Jupyter server has ended. Contexts stay and start new kernels with their next cells. */
  loseKernels(): void {
    for (const context of this.#contexts.values()) context.loseKernel()
  }

  #add(language: string, directory: string): CodeContext {
    if (this.#contexts.size >= MAX_CONTEXTS)
      throw new AppError('resource_exhausted', `there are ${MAX_CONTEXTS} contexts already: remove some`)
    const { jupyter, log } = this.#options
    const context = new CodeContext({ language, directory, jupyter, log })
    this.#contexts.set(context.id, context)
    return context
  }

  async #check(language: string): Promise<void> {
    if (this.#defaults.has(language)) return
    const languages = await listLanguages(await this.#options.jupyter.settings())
    if (languages.includes(language)) return
    throw new AppError(
      'invalid_argument',
      `There is no kernel for the language ${JSON.stringify(language)}: this sandbox has ${languages.join(', ')}`,
    )
  }
}
