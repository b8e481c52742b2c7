import { Sandbox, Template, type BuildInfo, type TemplateBuildStatusResponse } from 'e2b'
import { afterAll, expect, test } from 'vitest'
import { buildTemplate, removeTemplates, startBuild, templateName } from '../support/templates.ts'

const operations =
  '[POST /v3/templates] [POST /v2/templates/{templateID}/builds/{buildID}] [GET /templates/{templateID}/builds/{buildID}/status]'

afterAll(removeTemplates)

function versionFile(text: string, wait = ''): ReturnType<ReturnType<typeof Template>['fromTemplate']> {
  return Template().fromTemplate('base').runCmd(`echo ${text} > version${wait}`)
}

async function versionIn(reference: string): Promise<string> {
  const sandbox = await Sandbox.create(reference)
  try {
    return (await sandbox.files.read('version')).trim()
  } finally {
    await sandbox.kill()
  }
}

/** All current lines of the log, read in pages. */
async function readLog(build: BuildInfo): Promise<TemplateBuildStatusResponse> {
  let status = await Template.getBuildStatus(build)
  const logEntries = [...status.logEntries]
  while (status.logEntries.length > 0) {
    status = await Template.getBuildStatus(build, { logsOffset: logEntries.length })
    logEntries.push(...status.logEntries)
  }
  return { ...status, logEntries }
}

test(`${operations} a build in the background is in progress at once, returns its log while it grows, and is cancelled by a newer one`, async () => {
  const name = templateName('background')
  await buildTemplate(versionFile('old'), name)
  const endless = await startBuild(versionFile('never', '; echo waits; sleep 600'), name)
  const begun = await Template.getBuildStatus(endless)
  expect(begun).toMatchObject({ templateID: endless.templateId, buildID: endless.buildId, status: 'building', logs: [] })
  expect(begun.reason).toBeUndefined()

  const hasBegun = async (): Promise<boolean> =>
    (await readLog(endless)).logEntries.some(({ message }) => message.endsWith('[stdout]: waits'))
  await expect.poll(hasBegun, { timeout: 60_000 }).toBe(true)
  expect(await versionIn(name)).toBe('old')

  await buildTemplate(versionFile('new'), name)
  expect(await versionIn(name)).toBe('new')
  const ended = await readLog(endless)
  expect(ended).toMatchObject({ status: 'error', reason: { message: 'build was cancelled' } })
  expect(await versionIn(name)).toBe('new')
})

test(`${operations} the log of an ended build is complete and in order, in pages`, async () => {
  const name = templateName('log')
  const template = Template()
    .fromTemplate('base')
    .runCmd(`for i in $(seq 250); do echo "line $i"; done # ${name}`)
    .setReadyCmd('echo is-it; true')
  const { lines, templateId, buildId } = await buildTemplate(template, name)
  const order = [
    `Building template ${templateId}/${buildId}`,
    ...Array.from({ length: 250 }, (_, index) => `[builder 1/1] [stdout]: line ${index + 1}`),
    'Waiting for template to be ready: echo is-it; true',
    'Template is ready',
  ]
  expect(lines.filter((line) => order.includes(line))).toEqual(order)
  for (const phrase of [
    /^(CACHED )?\[base\] FROM TEMPLATE base \[/,
    /^\[builder 1\/1\] RUN for i in .* \[\w+\]$/,
    /^\[finalize\] Finalizing template build \[/,
    /^Build finished, took \S+/,
  ]) {
    expect(lines.filter((line) => phrase.test(line))).toHaveLength(1)
  }
  const status = await readLog({ name, alias: name, tags: [], templateId, buildId })
  expect(status).toMatchObject({ status: 'ready' })
  const times = status.logEntries.map(({ timestamp }) => timestamp.getTime())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})
