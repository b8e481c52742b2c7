import { expect, it } from 'vitest'
import { processorPercent, readHugePages, readMachine, readProcessorTimes } from './host-facts.ts'

it.each([
  [{ busy: 0, all: 0 }, { busy: 50, all: 200 }, 25],
  [{ busy: 10, all: 100 }, { busy: 110, all: 200 }, 100],
  [{ busy: 10, all: 100 }, { busy: 5, all: 200 }, 0],
  [{ busy: 10, all: 100 }, { busy: 10, all: 100 }, undefined],
])('the use of the processors from %o to %o is %s', (from, to, percent) => expect(processorPercent(from, to)).toBe(percent))

it('reads the processors and huge pages of this host', async () => {
  const { busy, all } = readProcessorTimes()
  expect(busy).toBeGreaterThan(0)
  expect(all).toBeGreaterThan(busy)
  expect(readMachine()).toEqual({
    family: expect.any(String),
    model: expect.any(String),
    modelName: expect.any(String),
    architecture: expect.stringMatching(/^\w+$/),
  })
  const pages = await readHugePages()
  if (pages !== undefined) expect(pages.used + pages.reserved).toBeGreaterThanOrEqual(0)
})
