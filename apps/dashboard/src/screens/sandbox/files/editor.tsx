import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import { toast } from '../../../parts/toasts.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { lineSeparator } from './file-content.ts'
import { languageOf } from './editor-language.ts'
import { editorStyle } from './editor-style.ts'

export interface EditorProps {
  readonly path: string
  /** At the start; another one makes another editor. */
  readonly text: string
  /** Shows the difference from this text. */
  readonly original?: string | undefined
  readonly isReadOnly: boolean
  readonly onChange: (read: () => string) => void
  readonly onSave: () => void
}

/** A text editor. Tab leaves it, as elsewhere on the page; Ctrl+S saves, Ctrl+F searches. */
export function Editor({ path, text, original, isReadOnly, onChange, onSave }: EditorProps) {
  const frame = useRef<HTMLDivElement>(null)
  const handlersRef = useRef({ onChange, onSave })
  useEffect(() => {
    handlersRef.current = { onChange, onSave }
  })
  useEffect(() => {
    if (frame.current === null) return undefined
    const [language, difference, search] = [new Compartment(), new Compartment(), new Compartment()]
    let isGone = false
    const add = (compartment: Compartment, extension: Extension): void => {
      if (!isGone) view.dispatch({ effects: compartment.reconfigure(extension) })
    }
    const view = new EditorView({
      parent: frame.current,
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineSeparator(text)),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': texts.editor(path), spellcheck: 'false' }),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        language.of([]),
        difference.of([]),
        search.of([]),
        keymap.of([
          { key: 'Mod-s', run: () => save(handlersRef.current.onSave) },
          { key: 'Mod-f', run: (target) => openSearch(target, search) },
          ...standardKeymap,
          ...historyKeymap,
        ]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) handlersRef.current.onChange(() => state.sliceDoc())
        }),
        editorStyle,
      ],
    })
    void languageOf(path).then((support) => {
      if (support !== undefined) add(language, support)
    })
    if (original !== undefined) {
      import('@codemirror/merge').then(
        ({ unifiedMergeView }) =>
          add(difference, unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } })),
        (err: unknown) => toast('failed', (err as Error).message),
      )
    }
    return () => {
      isGone = true
      view.destroy()
    }
  }, [path, text, original, isReadOnly])
  return <div ref={frame} class="editor" />
}

/** The search is loaded when it is first asked for; from then on its own keys work. */
function openSearch(view: EditorView, compartment: Compartment): true {
  import('@codemirror/search').then(
    ({ highlightSelectionMatches, openSearchPanel, searchKeymap }) => {
      // In front of Mod-f above, which is not reached any more.
      view.dispatch({ effects: compartment.reconfigure([Prec.high(keymap.of(searchKeymap)), highlightSelectionMatches()]) })
      openSearchPanel(view)
    },
    (err: unknown) => toast('failed', (err as Error).message),
  )
  return true
}

function save(onSave: () => void): true {
  onSave()
  return true
}
