import { render } from 'preact'
import { App } from './frame/app.tsx'
import { stampStyles } from './frame/stamp-styles.ts'
import { applyTheme } from './frame/theme.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/frame.css'

stampStyles()
applyTheme()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
