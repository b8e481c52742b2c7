import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { javascriptVariables } from './javascript.ts'
import { toKernelName, toLanguage } from './languages.ts'
import { pythonVariables } from './python.ts'
import { rVariables } from './r.ts'
import { variablesLine } from './variables-line.ts'

const NASTY = `it's "quoted" \\ $HOME \`id\`\n\t€ 😀`

test.each([
  [undefined, 'python', 'python3'],
  [null, 'python', 'python3'],
  ['', 'python', 'python3'],
  [' Python3 ', 'python', 'python3'],
  ['JS', 'javascript', 'javascript'],
  ['ts', 'typescript', 'typescript'],
  ['julia', 'julia', 'julia'],
])('the language %j is %s and has the kernel %s', (wanted, language, kernel) => {
  expect(toLanguage(wanted)).toBe(language)
  expect(toKernelName(language)).toBe(kernel)
})

test('code of Python sets and removes variables with any characters, and is ASCII', () => {
  const code = pythonVariables({ SET: NASTY, GONE: undefined, ALSO_GONE: undefined })
  expect(code).toMatch(/^[\n -~]*$/)
  const show = `${code}\nimport os, json; print(json.dumps([os.environ.get(n) for n in ("SET", "GONE", "ALSO_GONE")]))`
  const printed = execFileSync('python3', ['-c', show], {
    env: { PATH: process.env['PATH'], GONE: 'x', PYTHONUTF8: '1' },
    encoding: 'utf8',
  })
  expect(JSON.parse(printed)).toEqual([NASTY, null, null])
})

test('code of JavaScript sets and removes variables with any characters', () => {
  const show = `${javascriptVariables({ SET: NASTY, GONE: undefined })}; console.log(JSON.stringify([process.env.SET, process.env.GONE]))`
  const printed = execFileSync(process.execPath, ['-e', show], { env: { GONE: 'x' }, encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual([NASTY, null])
})

test('code of R sets and removes variables', () => {
  expect(rVariables({ SET: 'a "b"\\\n', GONE: undefined, 'not-a-name': 'x' })).toBe(
    'invisible(Sys.setenv(SET = "a \\"b\\"\\\\\\n"))\ninvisible(Sys.unsetenv("GONE"))',
  )
})

test('code of Bash and Java is a line for their kernels with the variables as JSON, and is ASCII', () => {
  const code = variablesLine({ SET: NASTY, GONE: undefined })
  expect(code).toMatch(/^%variables [ -~]*$/)
  expect(JSON.parse(code.slice('%variables '.length))).toEqual({ SET: NASTY, GONE: null })
})
