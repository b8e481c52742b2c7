import { chmod, mkdir, open, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failedCall } from '../sys/errno-text.ts'

/** The certificate bundle of Debian and its derivatives, and the file from which their tools rebuild it. */
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
const OWN_COPY = '/usr/local/share/ca-certificates/e2b-ca.crt'
const MODE = 0o644
/** Links of `update-ca-certificates` to our own copy: by its name, and by the hash of its subject through that name. */
const LINKS = '/etc/ssl/certs'
const LINK_NAME = 'e2b-ca.pem'

/** The previous installation has not ended: the platform must repeat its request. */
export class InstallationBusy extends Error {
  override readonly name = 'InstallationBusy'
}

/**
 * The certificates that the platform adds to those of the sandbox (envd.md 5.5). One PEM text at a time: a new one replaces
 * the previous one, also one from before a restart or from the sandbox that the image was made from.
 */
export class CaBundle {
  readonly #bundle: string
  readonly #ownCopy: string
  readonly #links: string
  readonly #onFailure: (err: unknown) => void
  #installed: string | undefined
  #cleaning: Promise<void> | undefined
  #turns: Promise<void> = Promise.resolve()

  /**
   * @param root `/` in a sandbox
   * @param onFailure receives errors after the answer
   */
  constructor(root: string, onFailure: (err: unknown) => void) {
    this.#bundle = join(root, BUNDLE)
    this.#ownCopy = join(root, OWN_COPY)
    this.#links = join(root, LINKS)
    this.#onFailure = onFailure
  }

  /**
   * Returns when new programs trust the certificates; the previous ones are removed in the background.
   *
   * @throws InstallationBusy while that removal runs, and an error whose message is for the platform
   */
  async install(pem: string): Promise<void> {
    const text = withOneLineEnd(pem)
    await this.#inTurn(() => this.#install(text))
  }

  /**
   * Returns when neither the bundle nor the files beside it have what was installed, also what `update-ca-certificates` made of it meanwhile.
   *
   * @throws an error whose message is for the platform
   */
  async remove(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#cleaning
      const last = this.#installed ?? (await readFile(this.#ownCopy, 'utf8').catch(() => undefined))
      this.#installed = undefined
      if (last !== undefined && last.trim() !== '') await this.#removeFromBundle(last)
      await rm(this.#ownCopy, { force: true })
      for (const name of await this.#linksToOwnCopy()) await rm(join(this.#links, name), { force: true })
    })
  }

  /** The platform repeats a request after a timeout, while the first one still runs. */
  async #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(task)
    this.#turns = turn.catch(() => undefined)
    await turn
  }

  async #install(text: string): Promise<void> {
    if (text === '\n' || text === this.#installed) return
    if (this.#cleaning !== undefined) throw new InstallationBusy('a previous CA bundle is still being cleaned up')
    const last = this.#installed ?? (await readFile(this.#ownCopy, 'utf8').catch(() => undefined))
    const isThere = last === text && (await readFile(this.#bundle, 'utf8').catch(() => '')).includes(text)
    if (!isThere) await appendText(this.#bundle, text)
    this.#installed = text
    this.#cleaning = this.#cleanUp(text, isThere ? undefined : last)
  }

  async #cleanUp(text: string, last: string | undefined): Promise<void> {
    try {
      await mkdir(dirname(this.#ownCopy), { recursive: true })
      await writeFile(this.#ownCopy, text, { mode: MODE })
      if (last !== undefined && last.trim() !== '') await replaceText(this.#bundle, (all) => withoutEarlier(all, last, text))
    } catch (err) {
      this.#onFailure(err)
    } finally {
      this.#cleaning = undefined
    }
  }

  /** A bundle that is no file any more has nothing to remove. */
  async #removeFromBundle(last: string): Promise<void> {
    const all = await readFile(this.#bundle, 'utf8').catch(() => '')
    if (all.includes(last)) await replaceText(this.#bundle, (text) => text.replaceAll(last, ''))
  }

  async #linksToOwnCopy(): Promise<string[]> {
    const entries = await readdir(this.#links, { withFileTypes: true }).catch(() => [])
    const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
    const targets = await Promise.all(links.map((name) => readlink(join(this.#links, name)).catch(() => '')))
    return links.filter((name, index) => name === LINK_NAME || [LINK_NAME, OWN_COPY].includes(targets[index] ?? ''))
  }
}

function withOneLineEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n') end -= 1
  return `${text.slice(0, end)}\n`
}

/** The bundle has to exist: a file of our own would be all that the sandbox trusts. */
async function appendText(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+').catch((err: unknown) => {
    throw new Error(`open CA bundle: ${failedCall('open', path, err)}`, { cause: err })
  })
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(1)
    if (size > 0) await file.read(end, 0, 1, size - 1)
    const isWholeLine = size === 0 || end.toString() === '\n'
    await file.write(isWholeLine ? text : `\n${text}`, size)
  } catch (err) {
    throw new Error(`append to CA bundle: ${failedCall('write', path, err)}`, { cause: err })
  } finally {
    await file.close()
  }
}

/** All of `last` before the last `text`, which may have it as a part. */
function withoutEarlier(all: string, last: string, text: string): string {
  const at = all.lastIndexOf(text)
  return at === -1 ? all : all.slice(0, at).replaceAll(last, '') + all.slice(at)
}

/** Programs that read meanwhile see all of the old or all of the new. A link stays a link. */
async function replaceText(path: string, change: (text: string) => string): Promise<void> {
  const target = await realpath(path)
  const temporary = `${target}.sandyard`
  try {
    await writeFile(temporary, change(await readFile(target, 'utf8')), { mode: MODE })
    await chmod(temporary, MODE)
    await rename(temporary, target)
  } catch (err) {
    await rm(temporary, { force: true })
    throw err
  }
}
