import { setTimeout as delay } from 'node:timers/promises'
import { MAX_LOG_ENTRIES, type BuildLogEntry, type TemplateBuildInfo } from '@sandyard/api-contract/builds/build-info'
import type { Template } from '@sandyard/api-contract/templates/template'
import type { TemplateWithBuilds } from '@sandyard/api-contract/templates/template-with-builds'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { NewLines, printLine, type LogOptions } from './log-line.ts'

interface Build {
  readonly templateID: string
  readonly buildID: string
}

type Page = (query: Record<string, string | number | undefined>) => Promise<readonly BuildLogEntry[]>

const EVERY_MS = 1000
const ENDED = ['ready', 'error']

/** The log of a build. With `follow` it ends with the build. @throws CliFailure `failed` for a build that failed, when it was followed */
export async function showBuildLog(parts: CliParts, build: Build, { lines, follow, level }: LogOptions): Promise<void> {
  const { output, signal, api } = parts
  const path = { ...build }
  const page: Page = (query) =>
    api
      .call<{ logs: BuildLogEntry[] }>('getBuildLogs', { path, query: { ...query, level, limit: MAX_LOG_ENTRIES } })
      .then(({ logs }) => logs)
  const fresh = new NewLines()
  const show = (entries: readonly BuildLogEntry[]): void => {
    for (const { step, ...line } of entries) printLine(output, { ...line, fields: step === undefined ? {} : { step } })
  }
  const all = await readAll(page, fresh)
  show(lines === 0 ? [] : all.slice(-lines))
  if (!follow) return
  while (true) {
    // Asked before the log, so that the lines before its end are read.
    const { status, reason } = await api.call<TemplateBuildInfo>('getBuildStatus', { path, query: { limit: 0 } })
    show(await readAll(page, fresh))
    if (status === 'error') throw new CliFailure(EXIT.failed, `The build failed: ${reason?.message ?? 'it gave no reason'}.`)
    if (ENDED.includes(status)) return output.say('The build is ready.')
    await delay(EVERY_MS, undefined, { signal })
  }
}

async function readAll(page: Page, fresh: NewLines): Promise<BuildLogEntry[]> {
  const lines: BuildLogEntry[] = []
  for (let isFull = true; isFull;) {
    const next = await page({ direction: 'forward', cursor: fresh.cursor })
    isFull = next.length === MAX_LOG_ENTRIES
    lines.push(...fresh.take(next, isFull))
  }
  return lines
}

const BUILD_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The build that is meant: a build by its id, else the newest one of a template by its id or name.
 *
 * @throws CliFailure `notFound`
 */
export async function findBuild({ api }: CliParts, reference: string): Promise<Build> {
  const templates = await api.listAll<Template>('listTemplatesV2')
  if (!BUILD_ID.test(reference)) {
    const template = templates.find(({ templateID, names, aliases }) => [templateID, ...names, ...aliases].includes(reference))
    if (template === undefined) throw new CliFailure(EXIT.notFound, `There is no sandbox, build or template "${reference}".`)
    return { templateID: template.templateID, buildID: template.buildID }
  }
  const newest = templates.find(({ buildID }) => buildID === reference)
  if (newest !== undefined) return { templateID: newest.templateID, buildID: reference }
  for (const { templateID } of templates) {
    const { builds } = await api.call<TemplateWithBuilds>('getTemplate', { path: { templateID }, query: { limit: 100 } })
    if (builds.some(({ buildID }) => buildID === reference)) return { templateID, buildID: reference }
  }
  throw new CliFailure(EXIT.notFound, `There is no build "${reference}" among the newest 100 of each template.`)
}
