import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCodeInterpreter } from '@sandyard/code-interpreter/bundle'
import { Template, waitForURL } from 'e2b'

export const context = await mkdtemp(join(tmpdir(), 'code-interpreter-'))
for (const part of ['java', 'kernels', 'python', 'server'])
  await cp(join(import.meta.dirname, part), join(context, part), { recursive: true })
await bundleCodeInterpreter(join(context, 'server/server.mjs'))

/** What the clients `@e2b/code-interpreter` and `e2b-code-interpreter` start: a Jupyter server and our server in front of it (docs/code-interpreter.md). */
export const template = Template({ fileContextPath: context })
  .fromTemplate('base')
  .setEnvs({ PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_CACHE_DIR: '1', PIP_ROOT_USER_ACTION: 'ignore' })
  // Java's packages link their pages there; the base image has no manual.
  .makeDir('/usr/share/man/man1', { user: 'root' })
  .aptInstall(['openjdk-17-jdk-headless', 'r-base-core', 'r-cran-irkernel'], { noInstallRecommends: true })
  .pipInstall([
    'e2b-charts==1.0.0',
    'ipykernel==7.4.0',
    'jupyter-server==2.21.1',
    'matplotlib==3.11.2',
    'numpy==2.4.6',
    'openpyxl==3.1.5',
    'orjson==3.13.0',
    'pandas==3.1.1',
    'plotly==7.1.0',
    'requests==2.34.2',
    'scipy==1.17.1',
    'seaborn==0.13.2',
    'sympy==1.14.0',
  ])
  .npmInstall(['deno@2.9.6'], { g: true })
  .runCmd(
    [
      // A check of formats that jsonschema can do without: it compiles a grammar at each start of the Jupyter server, for two thirds of that time.
      'pip uninstall --yes rfc3987-syntax lark',
      // Makes the list of fonts, which the first figure would wait for otherwise.
      'python3 -c "import matplotlib.pyplot"',
    ],
    { user: 'root' },
  )
  .copy('java', '/opt/code-interpreter/java', { user: 'root' })
  .runCmd('sh /opt/code-interpreter/java/build.sh', { user: 'root' })
  .copy('kernels', '/usr/local/share/jupyter/kernels', { user: 'root' })
  .copy('python', '/usr/local/lib/python3.11/dist-packages', { user: 'root' })
  .copy('server', '/opt/code-interpreter', { user: 'root' })
  .setStartCmd('exec sudo /opt/code-interpreter/start.sh', waitForURL('http://localhost:49999/health'))
