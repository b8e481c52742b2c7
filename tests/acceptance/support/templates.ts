import { randomBytes } from 'node:crypto'
import { Template, type BuildInfo, type BuildOptions, type LogEntry, type TemplateClass } from 'e2b'
import { callApi } from './api.ts'

const made = new Set<string>()

/** A unique template name. */
export function templateName(what: string): string {
  return `acc-${what}-${randomBytes(5).toString('hex')}`
}

export interface Built extends BuildInfo {
  /** The messages of the client and the log lines of the server, in order. */
  readonly lines: readonly string[]
}

type Options = Omit<BuildOptions, 'alias'>

/** Builds through the SDK and returns the lines of the log. {@link removeTemplates} removes the template, also after a failure. */
export async function buildTemplate(template: TemplateClass, name: string, options: Options = {}): Promise<Built> {
  const lines: string[] = []
  const onBuildLogs = (entry: LogEntry): void => {
    lines.push(entry.message)
    const id = /^Template created with ID: (\w+),/.exec(entry.message)?.[1]
    if (id !== undefined) made.add(id)
    options.onBuildLogs?.(entry)
  }
  return { ...(await Template.build(template, name, { ...options, onBuildLogs })), lines }
}

/** Starts a build through the SDK. {@link removeTemplates} removes the template. */
export async function startBuild(template: TemplateClass, name: string, options: Options = {}): Promise<BuildInfo> {
  const info = await Template.buildInBackground(template, name, options)
  made.add(info.templateId)
  return info
}

/** Lets {@link removeTemplates} remove a template that was created in another way. */
export function removeLater(templateId: string): void {
  made.add(templateId)
}

/** For `afterAll`: removes every template that was built in this file. */
export async function removeTemplates(): Promise<void> {
  for (const templateId of made) await callApi(`DELETE /templates/${templateId}`)
  made.clear()
}

/** Removes all templates with a name that has this prefix. */
export async function removeTemplatesNamed(prefix: string): Promise<void> {
  const { text } = await callApi('GET /templates')
  const templates = JSON.parse(text) as { templateID: string; aliases: string[] }[]
  const found = templates.filter(({ aliases }) => aliases.some((alias) => alias.startsWith(prefix)))
  for (const { templateID } of found) await callApi(`DELETE /templates/${templateID}`)
}

/** The `stdout` lines of the steps of a build, without their prefix. */
export function outputOf({ lines }: Pick<Built, 'lines'>): string[] {
  const prefix = /^\[builder \d+\/\d+\] \[stdout\]: /
  return lines.filter((line) => prefix.test(line)).map((line) => line.replace(prefix, ''))
}

/** The numbers of the steps that came from the cache. */
export function cachedSteps({ lines }: Pick<Built, 'lines'>): number[] {
  return lines
    .map((line) => /^CACHED \[builder (\d+)\/\d+\] /.exec(line)?.[1])
    .flatMap((step) => (step === undefined ? [] : [Number(step)]))
}
