package manual

import "strings"

// Bash is a completion script for bash 3.2 and later. It calls no other program
// and no function of the package bash-completion.
func (p Program) Bash() string {
	var s script
	s.line("# bash completion for %s, made by `%s completion bash`.", p.Name, p.Name)
	s.line("_%s() {", p.identifier())
	s.line(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} skip=0 wanted='' word path at`)
	s.line(`	COMPREPLY=()`)
	s.line(`	# Of --flag=value bash makes three words.`)
	s.line(`	if [[ $cur == = ]]; then`)
	s.line(`		cur=''`)
	s.line(`	elif [[ $prev == = ]]; then`)
	s.line(`		prev=${COMP_WORDS[COMP_CWORD - 2]}`)
	s.line(`	fi`)
	s.line(`	case ${COMP_WORDS[1]} in`)
	s.line(`	%s) ((COMP_CWORD == 1)) || skip=1 ;;`, strings.Join(p.helpers(), " | "))
	s.line(`	esac`)
	s.line(`	path=${COMP_WORDS[1 + skip]}`)
	s.line(`	at=$((2 + skip))`)
	s.line(`	case $path in`)
	s.line(`	%s)`, strings.Join(Names(p.parents()), " | "))
	s.line(`		path="$path ${COMP_WORDS[2 + skip]}"`)
	s.line(`		at=$((3 + skip))`)
	s.line(`		;;`)
	s.line(`	esac`)
	s.line(`	if ((COMP_CWORD == 1 + skip)); then`)
	s.line(`		wanted='%s'`, strings.Join(Names(p.Commands()), " "))
	s.line(`	elif ((COMP_CWORD < at)); then`)
	s.line(`		case ${COMP_WORDS[1 + skip]} in`)
	for _, c := range p.parents() {
		s.line(`		%s) wanted='%s' ;;`, c.Name, strings.Join(Names(c.Commands), " "))
	}
	s.line(`		esac`)
	s.line(`	elif ((skip == 0)); then`)
	s.line(`		case "$path $prev" in`)
	p.bashValues(&s)
	s.line(`		*)`)
	s.line(`			case "$path $cur" in`)
	for _, l := range p.leaves() {
		flags := []string{"--help"}
		for _, f := range l.Flags {
			flags = append(flags, f.dashed())
		}
		s.line(`			'%s -'*) wanted='%s' ;;`, l.path, strings.Join(flags, " "))
		argument := l.argument()
		if wanted := bashWanted(kindOf(argument), p.words(argument)); wanted != "" {
			s.line(`			'%s '*) wanted='%s' ;;`, l.path, wanted)
		}
	}
	s.line(`			esac`)
	s.line(`			;;`)
	s.line(`		esac`)
	s.line(`	fi`)
	s.line(`	while IFS= read -r word; do`)
	s.line(`		COMPREPLY+=("$word")`)
	s.line(`	done < <(`)
	s.line(`		case $wanted in`)
	s.line(`		@files) compgen -f -- "$cur" ;;`)
	s.line(`		@folders) compgen -d -- "$cur" ;;`)
	s.line(`		*) compgen -W "$wanted" -- "$cur" ;;`)
	s.line(`		esac`)
	s.line(`	)`)
	s.line(`	if [[ $wanted == @* ]]; then`)
	s.line(`		compopt -o filenames 2>/dev/null # quotes names; bash 3.2 has none`)
	s.line(`	fi`)
	s.line(`	return 0`)
	s.line(`}`)
	// Where nothing is found the shell completes the names of files, also quoted ones.
	s.line("complete -o default -F _%s %s", p.identifier(), p.Name)
	return s.String()
}

// bashValues writes what the value of each flag may be, once for all flags that
// take the same.
func (p Program) bashValues(s *script) {
	patterns := map[string][]string{}
	var order []string
	for _, l := range p.leaves() {
		for _, f := range l.Flags {
			if f.Value == "" {
				continue
			}
			wanted := bashWanted(f.kind(), f.Choices)
			if patterns[wanted] == nil {
				order = append(order, wanted)
			}
			patterns[wanted] = append(patterns[wanted], "'"+l.path+" "+f.dashed()+"'")
		}
	}
	for _, wanted := range order {
		s.line("\t\t%s)", strings.Join(patterns[wanted], " | "))
		s.line("\t\t\twanted='%s'", wanted)
		s.line("\t\t\t;;")
	}
}

// bashWanted is what the script's variable wanted is to be.
func bashWanted(k kind, words []string) string {
	switch k {
	case folders:
		return "@folders"
	case anyFiles:
		return "@files"
	case free, choices, rules, names:
	}
	return strings.Join(words, " ")
}
