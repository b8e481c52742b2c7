import type { Sandbox } from '@e2b/code-interpreter'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSandbox, type OpenSandbox } from './sandbox.ts'

let open: OpenSandbox
let sandbox: Sandbox

beforeAll(async () => {
  open = await openSandbox({ FROM_CREATE: 'yes' })
  sandbox = open.sandbox
})
afterAll(() => open[Symbol.asyncDispose]())

const java = { language: 'java' } as const

describe('runCode in Java', () => {
  test('gives the value of the last line, and keeps the state and the count', async () => {
    const first = await sandbox.runCode('int x = 20; x + 1', java)
    const second = await sandbox.runCode('int twice(int n) {\n  return n * 2;\n}\ntwice(x) + 2', java)
    expect([first.text, second.text]).toEqual(['21', '42'])
    expect(second.results).toMatchObject([{ isMainResult: true }])
    expect(second.executionCount).toBe((first.executionCount ?? 0) + 1)
  }, 120_000)

  test.each([
    ['"é 😀"', 'é 😀'],
    ['new int[] {1, 2}', '[1, 2]'],
    ['List.of(1, 2).stream().map(n -> n * 2).collect(Collectors.toList())', '[2, 4]'],
    ['record Point(int x, int y) {}\nnew Point(1, 2)', 'Point[x=1, y=2]'],
    ['var y = 1', undefined],
    ['null', undefined],
    ['// nothing', undefined],
    ['System.out.printf("printed%n");', undefined],
    ['class Car { Wheel wheel = new Wheel(); }\nclass Wheel { int size = 3; }\nnew Car().wheel.size', '3'],
  ])('the value of %j is %j', async (code, text) => {
    const { results, error, logs } = await sandbox.runCode(code, java)
    expect([error, logs.stderr]).toEqual([undefined, []])
    expect(results.map((result) => result.text)).toEqual(text === undefined ? [] : [text])
  })

  test('streams what is printed while the cell runs, to both outputs', async () => {
    const seen: string[] = []
    let first: number | undefined
    const code = 'System.out.println("é 😀"); System.err.print("err"); Thread.sleep(2000); System.out.print("end");'
    const { logs } = await sandbox.runCode(code, {
      ...java,
      onStdout: ({ line }) => {
        first ??= performance.now()
        seen.push(line)
      },
      onStderr: ({ line }) => void seen.push(line),
    })
    expect(performance.now() - (first ?? Infinity)).toBeGreaterThan(1000)
    expect(seen.join('')).toContain('é 😀\n')
    expect(logs.stdout.join('')).toBe('é 😀\nend')
    expect(logs.stderr.join('')).toBe('err')
  })

  test('gives what a process that the cell starts prints, before the end of the cell', async () => {
    const { logs } = await sandbox.runCode('new ProcessBuilder("echo", "from a child").inheritIO().start().waitFor();', java)
    expect(logs.stdout.join('')).toBe('from a child\n')
  })

  test('loses nothing of 200,000 lines', async () => {
    const { logs } = await sandbox.runCode('for (int i = 0; i < 200_000; i++) System.out.println("line " + i);', java)
    const lines = logs.stdout.join('').trimEnd().split('\n')
    expect(lines.length).toBe(200_000)
    expect(lines.at(-1)).toBe('line 199999')
  }, 60_000)

  test('reports an exception with the lines of its cells, and goes on after it', async () => {
    await sandbox.runCode('int divide(int n) {\n  return 1 / n;\n}', java)
    const { error, results } = await sandbox.runCode('int n = 0;\n\ndivide(n)', java)
    expect(results).toEqual([])
    expect(error).toMatchObject({ name: 'ArithmeticException', value: '/ by zero' })
    expect(error?.traceback).toMatch(/^java\.lang\.ArithmeticException: \/ by zero\n/)
    expect(error?.traceback).toMatch(/at divide\(\), cell \d+, line 2\n +return 1 \/ n;/)
    expect(error?.traceback).toMatch(/at cell \d+, line 3\n +divide\(n\)/)
    expect((await sandbox.runCode('n', java)).text).toBe('0')
  })

  test('reports an exception of the cell with its cause', async () => {
    const code =
      'class Mine extends RuntimeException { Mine(Throwable why) { super("mine", why); } }\nthrow new Mine(new java.io.IOException("why"));'
    const { error } = await sandbox.runCode(code, java)
    expect(error).toMatchObject({ name: 'Mine', value: 'mine' })
    expect(error?.traceback).toContain('Caused by: java.io.IOException: why')
  })

  test.each([
    [
      'int bad =\n  "text";',
      'incompatible types: java.lang.String cannot be converted to int',
      /line 2: error: incompatible.*\n +"text";\n +\^{6}/,
    ],
    ['int ok = 1;\nunknown(1)', 'cannot find symbol', /line 2: error: cannot find symbol\n +symbol: +method unknown\(int\)/],
    ['class Half {', 'reached the end of the cell within a statement', /line 1/],
    ['while (true)', 'reached the end of the cell within a statement', /line 1/],
    ['int ok = 1;\nif (true) { } else', 'reached the end of the cell within a statement', /line 2/],
  ])('reports that %j cannot be compiled', async (code, value, traceback) => {
    const { error } = await sandbox.runCode(code, java)
    expect(error).toMatchObject({ name: 'CompilationException', value })
    expect(error?.traceback).toMatch(traceback)
  })

  test('has an empty standard input', async () => {
    expect((await sandbox.runCode('System.in.read()', java)).text).toBe('-1')
  })

  test('sees the variables of the sandbox and of the cell, as variables and as properties', async () => {
    const code = 'System.getenv("ONLY_HERE") + System.getProperty("ONLY_HERE")'
    const value = 'it\'s "x" \\ % 😀'
    expect((await sandbox.runCode(code, { ...java, envs: { ONLY_HERE: value } })).text).toBe(value + value)
    expect((await sandbox.runCode(code, java)).text).toBe('nullnull')
    expect((await sandbox.runCode('System.getenv("FROM_CREATE") + System.getProperty("FROM_CREATE")', java)).text).toBe('yesyes')
  })
})

describe('a context of Java', () => {
  test('has a state and a directory of its own, until it is restarted', async () => {
    const context = await sandbox.createCodeContext({ language: 'java', cwd: '/tmp' })
    await sandbox.runCode('int own = 1;', { context })
    const where = 'own + Path.of("").toAbsolutePath().toString()'
    expect((await sandbox.runCode(where, { context })).text).toBe('1/tmp')
    await sandbox.restartCodeContext(context)
    expect((await sandbox.runCode(where, { context })).error?.value).toBe('cannot find symbol')
    await sandbox.removeCodeContext(context)
  }, 120_000)
})

describe('a jar of Debian', () => {
  test('can be used by a context that is made after it', async () => {
    const make = [
      'cd "$(mktemp -d)"',
      'echo "package made; public class Made { public static int value() { return 7; } }" > Made.java',
      'javac -d . Made.java',
      'mkdir -p /usr/share/java',
      'jar --create --file /usr/share/java/made.jar made',
    ]
    await sandbox.commands.run(make.join(' && '), { user: 'root', timeoutMs: 60_000 })
    const context = await sandbox.createCodeContext({ language: 'java' })
    expect((await sandbox.runCode('made.Made.value()', { context })).text).toBe('7')
    await sandbox.removeCodeContext(context)
  }, 120_000)
})

describe('a cell of Java that goes too far', () => {
  test.each([
    ['sleeps', 'Thread.sleep(600_000);'],
    ['loops', 'while (true) {}'],
    ['catches what interrupts it', 'while (true) { try { Thread.sleep(1); } catch (InterruptedException e) {} }'],
    ['has a value that never ends', 'new Object() { public String toString() { while (true) {} } }'],
  ])(
    'and %s is interrupted when its client goes, and the state is kept',
    async (_, code) => {
      await sandbox.runCode('int kept = 5;', java)
      await expect(sandbox.runCode(code, { ...java, timeoutMs: 2000 })).rejects.toThrow('timed out')
      expect((await sandbox.runCode('kept', java)).text).toBe('5')
    },
    60_000,
  )

  test('and cannot be interrupted ends with its kernel', async () => {
    await sandbox.runCode('int gone = 5;', java)
    const code = 'while (true) { try { Thread.sleep(1); } catch (Throwable e) {} }'
    await expect(sandbox.runCode(code, { ...java, timeoutMs: 2000 })).rejects.toThrow('timed out')
    expect((await sandbox.runCode('gone', java)).error?.value).toBe('cannot find symbol')
  }, 120_000)

  test('and takes more memory than Java has gets an error, and the state is kept', async () => {
    await sandbox.runCode('int kept = 5;', java)
    const { error } = await sandbox.runCode('var all = new ArrayList<byte[]>(); while (true) all.add(new byte[10_000_000]);', java)
    expect(error?.name).toBe('OutOfMemoryError')
    expect((await sandbox.runCode('all = null; kept', java)).text).toBe('5')
  }, 120_000)

  test('and throws a message of 100 MB gets the beginning of it, and the state is kept', async () => {
    await sandbox.runCode('int kept = 5;', java)
    const { error } = await sandbox.runCode('throw new RuntimeException("x".repeat(100_000_000));', java)
    expect(error?.name).toBe('RuntimeException')
    expect((await sandbox.runCode('kept', java)).text).toBe('5')
  }, 120_000)

  test('and ends its kernel is reported, with what it printed, and the next one runs', async () => {
    const { error, logs } = await sandbox.runCode('System.out.println("last"); System.exit(1);', java)
    expect(error?.name).toBe('UnexpectedEndOfExecution')
    expect(logs.stdout.join('')).toBe('last\n')
    expect((await sandbox.runCode('1 + 1', java)).text).toBe('2')
  }, 120_000)
})
