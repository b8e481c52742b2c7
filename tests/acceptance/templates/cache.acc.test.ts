import { Sandbox, Template, type TemplateBuilder } from 'e2b'
import { afterAll, expect, test } from 'vitest'
import { makeContext } from '../support/build-context.ts'
import { buildTemplate, cachedSteps, outputOf, removeTemplates, templateName } from '../support/templates.ts'

const operation = '[POST /v2/templates/{templateID}/builds/{buildID}]'
const name = templateName('cache')

/** Each step prints a unique text, so that its output proves that it ran. */
const SAY = 'cat /proc/sys/kernel/random/uuid | tee -a ~/said'

function threeSteps(change: (template: TemplateBuilder) => TemplateBuilder = (template) => template, last = SAY): TemplateBuilder {
  return change(Template().fromTemplate('base').runCmd(`${SAY} # ${name}`))
    .runCmd(SAY)
    .runCmd(last)
}

afterAll(removeTemplates)

test(`${operation} only changed steps and the steps after them run again`, async () => {
  const first = await buildTemplate(threeSteps(), name)
  expect(cachedSteps(first)).toEqual([])
  const said = outputOf(first)
  expect(said).toHaveLength(3)

  const unchanged = await buildTemplate(threeSteps(), name)
  expect([cachedSteps(unchanged), outputOf(unchanged)]).toEqual([[1, 2, 3], []])
  expect(unchanged.templateId).toBe(first.templateId)
  expect(unchanged.buildId).not.toBe(first.buildId)

  const changedLast = await buildTemplate(threeSteps(undefined, `${SAY} # changed`), name)
  expect(cachedSteps(changedLast)).toEqual([1, 2])
  expect(outputOf(changedLast)).toHaveLength(1)

  const fromSecond = await buildTemplate(
    threeSteps((template) => template.skipCache()),
    name,
  )
  expect(cachedSteps(fromSecond)).toEqual([1])
  expect(outputOf(fromSecond)).toHaveLength(2)

  const everything = await buildTemplate(threeSteps(), name, { skipCache: true })
  expect(cachedSteps(everything)).toEqual([])
  expect(outputOf(everything)).toHaveLength(3)

  const otherName = await buildTemplate(threeSteps(), templateName('cache-other'))
  expect(cachedSteps(otherName)).toEqual([1, 2, 3])
  const sandbox = await Sandbox.create(otherName.name)
  try {
    expect((await sandbox.files.read('said')).trimEnd().split('\n')).toEqual(outputOf(everything))
  } finally {
    await sandbox.kill()
  }
})

test(`[GET /templates/{templateID}/files/{hash}] ${operation} a file is uploaded once, and again only after a change or with force`, async () => {
  const id = templateName('content')
  const withFile = async (text: string, options: { forceUpload?: true } = {}): Promise<readonly string[]> => {
    await using context = await makeContext({ 'file.txt': text })
    const template = Template({ fileContextPath: context.directory }).fromTemplate('base').copy('file.txt', 'file.txt', options)
    const built = await buildTemplate(template, id)
    return built.lines.filter((line) => /file\.txt/.test(line)).map((line) => line.replaceAll(/ \[[^\]]*\]$/g, ''))
  }
  const step = '[builder 1/1] COPY file.txt file.txt'
  const text = `${id}\n`
  const notCached = expect.stringMatching(/^\[builder 1\/1\] COPY file\.txt file\.txt *$/)
  const cached = expect.stringMatching(/^CACHED \[builder 1\/1\] COPY file\.txt file\.txt *$/)
  expect(step).toEqual(notCached)
  expect(await withFile(text)).toEqual(["Uploaded 'file.txt'", notCached])
  expect(await withFile(text)).toEqual(["Skipping upload of 'file.txt', already cached", cached])
  expect(await withFile(`${text}changed\n`)).toEqual(["Uploaded 'file.txt'", notCached])
  expect(await withFile(text, { forceUpload: true })).toEqual(["Uploaded 'file.txt'", notCached])
})
