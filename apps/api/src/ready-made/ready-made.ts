import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readManifest, readManifests, type Manifest } from '@sandyard/templates/manifest'
import type { Database } from '@sandyard/db/database'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runInScope } from '@sandyard/kit/tracing/scope'
import type { TemplateLimits } from '../builds/build-config.ts'
import type { BuildSource } from '../builds/build-plan.ts'
import type { Team } from '../teams/team.ts'
import { findTemplate, resolveTemplate } from '../templates/resolve-template.ts'
import { findReadyBuildByTag, findTemplateByAlias } from '../templates/template-queries.ts'
import type { ReadyBuild, Template } from '../templates/template.ts'
import { parseTemplateReference, type TemplateReference } from '../templates/template-reference.ts'
import type { UploadStore } from '../uploads/upload-store.ts'
import { msUntilRetry } from './back-off.ts'
import { compileTemplate, type Compiled } from './compile-template.ts'
import { fitResources } from './fit-resources.ts'
import { couldNotBuild, noReadyMade, stillBuilding, tooManyWait } from './ready-made-errors.ts'
import { isUnfinished, readReadyMadeState, type ReadyMadeBuild, type ReadyMadeState } from './ready-made-state.ts'
import { readProgress } from './read-progress.ts'
import { isNewer, registerReadyMade } from './register-ready-made.ts'

export interface ReadyMadeParts {
  readonly database: Database
  readonly tokenSeed: Secret
  readonly limits: TemplateLimits
  readonly uploads: Pick<UploadStore, 'has' | 'take'>
  /** The folder with the templates. */
  readonly folder: string
  readonly log: Logger
  /** How long a request waits for a first build. */
  readonly waitMs?: number
}

interface StartOptions {
  /** By a person, who does not wait after a failure when the folder has changed. */
  readonly isAskedFor: boolean
  readonly signal?: AbortSignal
}

/** The team that owns `base` owns what else comes with the server. */
const BASE = 'base'
/** Half of the 60 s that clients wait (clients.md 3.8): the start of the sandbox needs the rest. */
const WAIT_MS = 30_000
const LOOK_EVERY_MS = 250
/** Each holds a connection of its client and little else. */
const MOST_WAITING = 200

/**
 * The templates that come with the server (docs/templates.md). They are built when they are first asked for; all state is in the database,
 * so any number of servers may build and serve them.
 */
export class ReadyMade implements AsyncDisposable {
  readonly #parts: ReadyMadeParts
  readonly #starting = new SingleFlight<string, void>()
  readonly #looking = new SingleFlight<string, ReadyMadeState>()
  readonly #ending = new AbortController()
  #waiting = 0

  constructor(parts: ReadyMadeParts) {
    this.#parts = parts
  }

  /** All templates that come with this server, by name. */
  async list(): Promise<{ readonly manifest: Manifest; readonly state: ReadyMadeState }[]> {
    const manifests = await readManifests(this.#parts.folder)
    return Promise.all(manifests.map(async (manifest) => ({ manifest, state: await this.#read(manifest.name) })))
  }

  /** No team gets these names without a namespace. */
  async names(): Promise<ReadonlySet<string>> {
    return new Set((await readManifests(this.#parts.folder)).map(({ name }) => name))
  }

  /**
   * Starts the build of a template unless the installed one is of this or a newer release. Returns without waiting for the build.
   *
   * @throws AppError `not_found`
   */
  async install(name: string): Promise<{ readonly manifest: Manifest; readonly state: ReadyMadeState }> {
    const manifest = await readManifest(this.#parts.folder, name)
    if (manifest === undefined) throw noReadyMade(name)
    await this.#start(manifest, { isAskedFor: true })
    return { manifest, state: await this.#read(name) }
  }

  /** Builds again what is installed from former content of its folder. Failures are logged: the former builds go on serving. */
  async upgrade(signal: AbortSignal): Promise<void> {
    for (const { manifest, state } of await this.list()) {
      if (signal.aborted) return
      if (state.installed === undefined || state.isTaken || manifest.version < state.installed.version) continue
      await this.#start(manifest, { isAskedFor: false, signal }).catch((err: unknown) => {
        if (!signal.aborted) this.#parts.log.warn({ err, template: manifest.name }, 'a ready-made template could not be upgraded')
      })
    }
  }

  /**
   * Like `resolveTemplate`; a ready-made template that nobody asked for yet is built, and the call waits for it for a while.
   *
   * @throws AppError those of `resolveTemplate`; `unavailable` while the build goes on, and after it failed
   */
  async resolve(team: Team, reference: TemplateReference): Promise<{ template: Template; build: ReadyBuild }> {
    const { db } = this.#parts.database
    try {
      return await resolveTemplate(db, team, reference)
    } catch (err) {
      if (!isAppError(err, 'not_found')) throw err
      const manifest = await this.#findAbsent(team, reference)
      if (manifest === undefined) throw err
      await this.#build(manifest)
      return resolveTemplate(db, team, reference)
    }
  }

  /** Like `resolve`, for the base of a build; what is not found is the failure of that build, so it is not told here. */
  async prepare(team: Team, fromTemplate: string | undefined): Promise<void> {
    if (fromTemplate === undefined) return
    if ((await readManifest(this.#parts.folder, fromTemplate)) === undefined) return
    await this.resolve(team, parseTemplateReference(fromTemplate)).catch((err: unknown) => {
      if (!isAppError(err, 'not_found')) throw err
    })
  }

  /** The ready-made template that the reference stands for, if it has no build that sandboxes can start from. */
  async #findAbsent(team: Team, reference: TemplateReference): Promise<Manifest | undefined> {
    if (reference.namespace !== undefined || reference.tag !== undefined) return undefined
    const manifest = await readManifest(this.#parts.folder, reference.name)
    const found = manifest && (await findTemplate(this.#parts.database.db, team, reference))
    if (found === undefined) return manifest
    const { templateId, isTaken } = await this.#read(reference.name)
    return templateId === found.templateId && !isTaken ? manifest : undefined
  }

  /** Starts the build if no one has, and waits for its end. */
  async #build(manifest: Manifest): Promise<void> {
    const { name } = manifest
    if (this.#waiting >= MOST_WAITING) throw tooManyWait(name)
    this.#waiting += 1
    try {
      const former = await this.#read(name)
      if (former.newest === undefined || !isUnfinished(former.newest)) {
        refuseAfterFailure(name, former)
        await this.#start(manifest, { isAskedFor: false })
      }
      await this.#wait(name)
    } finally {
      this.#waiting -= 1
    }
  }

  async #wait(name: string): Promise<void> {
    const deadline = performance.now() + (this.#parts.waitMs ?? WAIT_MS)
    while (true) {
      const state = await this.#looking.run(name, () => this.#read(name))
      if (state.installed !== undefined) return
      if (state.newest === undefined) throw couldNotBuild(name, 'its build has gone', 1000)
      if (!isUnfinished(state.newest)) refuseAfterFailure(name, state)
      if (performance.now() >= deadline) throw await this.#stillBuilding(name, state.newest)
      await delay(LOOK_EVERY_MS, undefined, { signal: this.#ending.signal }).catch(() => {
        throw new AppError('unavailable', 'The server is stopping: send the request again', { headers: { 'retry-after': '1' } })
      })
    }
  }

  async #stillBuilding(name: string, { buildId, createdAt }: ReadyMadeBuild): Promise<AppError> {
    const { step, steps } = await readProgress(this.#parts.database.db, buildId)
    return stillBuilding(name, { forMs: Date.now() - createdAt.getTime(), step, steps })
  }

  #read(name: string): Promise<ReadyMadeState> {
    return readReadyMadeState(this.#parts.database.db, name)
  }

  /** Concurrent calls share one run, so a server compiles a template once at a time; the registration serialises the servers. */
  #start(manifest: Manifest, { isAskedFor, signal }: StartOptions): Promise<void> {
    // It belongs to none of the requests that wait for it: it goes on when the client of the first one has gone.
    const start = async (): Promise<void> => {
      const { database, tokenSeed, limits, log } = this.#parts
      const { db } = database
      const base = await findTemplateByAlias(db, BASE, null)
      if (base === undefined) throw new AppError('failed_precondition', `This server has no template '${BASE}'`)
      const ending = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])])
      await using compiled = await compileTemplate(manifest, ending).catch((err: unknown) => {
        log.error({ err, template: manifest.name }, 'a ready-made template is broken')
        throw err
      })
      const { template, digest } = compiled
      if (!isNewer({ manifest, digest }, await this.#read(manifest.name))) return
      await this.#upload(base.teamId, compiled)
      const { steps, startCmd, readyCmd } = template
      const plan = { source: await this.#findSource(template), steps, force: false, startCmd, readyCmd }
      const resources = fitResources(manifest, limits)
      await registerReadyMade(database, tokenSeed, { manifest, digest, teamId: base.teamId, plan, resources, isAskedFor })
    }
    return this.#starting.run(manifest.name, () => runInScope({}, start))
  }

  async #upload(teamId: string, { template, folder }: Compiled): Promise<void> {
    for (const { hash, file } of template.archives) {
      const key = { teamId, hash }
      if (await this.#parts.uploads.has(key)) continue
      const path = join(folder, file)
      const { size: sizeBytes } = await stat(path)
      await this.#parts.uploads.take(key, { body: createReadStream(path), sizeBytes })
    }
  }

  async #findSource({ fromImage, fromTemplate }: Compiled['template']): Promise<BuildSource> {
    if (fromTemplate === undefined) return { kind: 'image', reference: fromImage ?? '' }
    const { db } = this.#parts.database
    const { name, tag } = parseTemplateReference(fromTemplate)
    const template = await findTemplateByAlias(db, name, null)
    const build = template && (await findReadyBuildByTag(db, template.templateId, tag))
    if (build === undefined) throw new AppError('failed_precondition', `This server has no template '${fromTemplate}'`)
    return { kind: 'template', reference: fromTemplate, buildId: build.buildId }
  }

  /** Ends what waits and what is compiled. Builds are in the queue of all servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
  }
}

/** @throws AppError `unavailable` with the reason, while the newest build failed too recently to be repeated */
function refuseAfterFailure(name: string, state: ReadyMadeState): void {
  const retryMs = msUntilRetry(state)
  if (retryMs > 0) throw couldNotBuild(name, state.newest?.reason ?? 'an internal error occurred', retryMs)
}
