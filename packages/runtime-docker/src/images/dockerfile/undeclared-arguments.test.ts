import { expect, it } from 'vitest'
import { undeclaredArguments } from './undeclared-arguments.ts'

const VALUES = { HTTP_PROXY: 'a', http_proxy: 'b', NO_PROXY: 'c' }

it.each([
  [
    ['FROM x', 'RUN echo ARG HTTP_PROXY'],
    ['HTTP_PROXY', 'http_proxy', 'NO_PROXY'],
  ],
  [['ARG HTTP_PROXY'], ['http_proxy', 'NO_PROXY']],
  [['ARG OTHER=1 http_proxy=2'], ['HTTP_PROXY', 'NO_PROXY']],
  [['ONBUILD ARG NO_PROXY=x'], ['HTTP_PROXY', 'http_proxy']],
  [['onbuild arg   NO_PROXY'], ['HTTP_PROXY', 'http_proxy']],
  [['ARG $NAME=x'], []],
  [['ARG "HTTP_PROXY"=x'], []],
  [['ARG HTTP\\_PROXY'], []],
  [['ARG A="two words"'], []],
])('for %j are %j', (instructions, names) => {
  expect(Object.keys(undeclaredArguments(VALUES, instructions))).toEqual(names)
})
