import { createHash, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'

const NONCE_BYTES = 16
const HASH_LENGTH = 16

interface Built {
  readonly mtimeMs: number
  readonly html: string
  readonly assets: string
}

/** `index.html`, which has another nonce in each answer. It is read again when it was built again. */
export class Page {
  readonly #dist: string
  #built: Built | undefined

  constructor(dist: string) {
    this.#dist = dist
  }

  /** @throws AppError `unavailable` when the page is not built */
  async render(): Promise<{ html: string; nonce: string }> {
    const { html, assets } = await this.#read()
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    return { html: html.replaceAll('__STYLE_NONCE__', nonce).replaceAll('__ASSETS__', assets), nonce }
  }

  /** Names the version of all files: a page with another one is out of date. Empty when the page is not built. */
  async assets(): Promise<string> {
    try {
      return (await this.#read()).assets
    } catch {
      return ''
    }
  }

  async #read(): Promise<Built> {
    try {
      const { mtimeMs } = await stat(join(this.#dist, 'index.html'))
      if (this.#built?.mtimeMs === mtimeMs) return this.#built
      const [html, manifest] = await Promise.all([
        readFile(join(this.#dist, 'index.html'), 'utf8'),
        readFile(join(this.#dist, 'manifest.json')),
      ])
      this.#built = { mtimeMs, html, assets: createHash('sha256').update(manifest).digest('hex').slice(0, HASH_LENGTH) }
      return this.#built
    } catch (cause) {
      throw new AppError('unavailable', 'The pages of the dashboard are not built: run `npm start`, or set SANDYARD_DASHBOARD_DIST', {
        cause,
      })
    }
  }
}
