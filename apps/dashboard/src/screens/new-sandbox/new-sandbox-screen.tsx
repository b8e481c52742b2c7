import type { Sandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { wire } from '../../api/wire.ts'
import { paths } from '../../frame/paths.ts'
import { readStored, writeStored } from '../../frame/stored.ts'
import { runAction } from '../../parts/run-action.ts'
import { me } from '../../session/me.ts'
import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import { CodePanel } from './code-panel.tsx'
import { newSandboxCode } from './new-sandbox-code.ts'
import { EMPTY_FORM, isComplete, toBody, type NewSandboxForm } from './new-sandbox-form.ts'
import { LifetimeField } from './lifetime-field.tsx'
import { NetworkField } from './network-field.tsx'
import { PairsField } from './pairs-field.tsx'
import { TemplateField } from './template-field.tsx'
import '../../styles/new-sandbox.css'
import '../../styles/forms.css'

export function NewSandboxScreen() {
  const { query, route } = useLocation()
  const [form, setForm] = useState<NewSandboxForm>(() => ({ ...EMPTY_FORM, template: query['template'] ?? EMPTY_FORM.template }))
  const [opensTerminal, setOpensTerminal] = useState(readStored('new.terminal') !== 'no')
  const [isRunning, setRunning] = useState(false)
  const change = (part: Partial<NewSandboxForm>): void => setForm((former) => ({ ...former, ...part }))
  const session = me.value
  const maxSeconds = session?.server.maxLifetimeSeconds ?? 86_400
  const isReadOnly = session?.key?.isReadOnly === true
  const body = toBody(form)
  const canCreate = isComplete(form, maxSeconds) && !isReadOnly && !isRunning
  const create = async (): Promise<void> => {
    if (!canCreate) return
    setRunning(true)
    await runAction({
      label: texts.create,
      run: async () => {
        const { data } = await wire<Sandbox>('POST', '/v2/sandboxes', { body })
        route(opensTerminal ? `${paths.sandbox(data.sandboxID, 'terminal')}?open=shell` : paths.sandbox(data.sandboxID))
      },
    })
    setRunning(false)
  }
  return (
    <>
      <div class="page-head">
        <h1>{texts.title}</h1>
      </div>
      <div class="new-sandbox">
        <form
          class="panel panel-body form"
          onSubmit={(event) => {
            event.preventDefault()
            void create()
          }}
        >
          <TemplateField value={form.template} onChange={(template) => change({ template })} />
          <LifetimeField form={form} maxSeconds={maxSeconds} onChange={change} />
          <PairsField label={texts.metadata} pairs={form.metadata} onChange={(metadata) => change({ metadata })} />
          <PairsField label={texts.env} hint={texts.envHint} pairs={form.env} onChange={(env) => change({ env })} />
          <NetworkField form={form} onChange={change} />
          <div class="row form-end">
            <button type="submit" class="button button-primary" disabled={!canCreate}>
              {isRunning && <span class="spinner" />}
              {isRunning ? texts.creating : texts.create}
            </button>
            <label class="check">
              <input
                type="checkbox"
                checked={opensTerminal}
                onChange={({ currentTarget }) => {
                  setOpensTerminal(currentTarget.checked)
                  writeStored('new.terminal', currentTarget.checked ? 'yes' : 'no')
                }}
              />
              {texts.openTerminal}
            </label>
            {isReadOnly && <span class="muted">{texts.readOnly}</span>}
          </div>
        </form>
        <CodePanel code={newSandboxCode(body, session?.server)} />
      </div>
    </>
  )
}
