(* Reads a certificate from standard input, as text, and prints the interval that its two plans prove.
   Only [bounds] is verified, in Bounds.v; reading and printing are not. *)

open Checker

let fail line why = Printf.eprintf "refused: line %d: %s\n" line why; exit 1

(* Decimal numbers of any length, as lists of 24-bit digits, the lowest first: the checker's numbers are bits. *)
let base = 1 lsl 24

let rec times_plus digits factor carry = match digits with
  | [] -> if carry = 0 then [] else [carry]
  | d :: rest -> let x = d * factor + carry in (x land (base - 1)) :: times_plus rest factor (x lsr 24)

let of_decimal text = String.fold_left (fun digits c -> times_plus digits 10 (Char.code c - 48)) [] text

let positive_of digits =
  let bits = List.concat_map (fun d -> List.init 24 (fun k -> (d lsr k) land 1)) digits in
  let rec build = function
    | [] -> None
    | b :: rest -> (match build rest with
        | None -> if b = 1 then Some XH else None
        | Some p -> Some (if b = 1 then XI p else XO p)) in
  build bits

(* Equal numbers are the same number: plans have few different weights, and a bit takes two words. *)
let known = Hashtbl.create 1000

let z_of text = match Hashtbl.find_opt known text with
  | Some z -> z
  | None ->
      let z = match positive_of (of_decimal text) with None -> Z0 | Some p -> Zpos p in
      Hashtbl.add known text z;
      z

let decimal_of p =
  let rec digits p = match p with  (* decimal digits, the lowest first *)
    | XH -> [1]
    | XO q -> double (digits q) 0
    | XI q -> double (digits q) 1
  and double ds carry = match ds with
    | [] -> if carry = 0 then [] else [carry]
    | d :: rest -> let x = 2 * d + carry in (x mod 10) :: double rest (x / 10) in
  String.concat "" (List.rev_map string_of_int (digits p))

let text_of = function Z0 -> "0" | Zpos p -> decimal_of p | Zneg p -> "-" ^ decimal_of p

let rec read_lines found = match input_line stdin with
  | l -> read_lines (l :: found)
  | exception End_of_file -> Array.of_list (List.rev found)
let lines = read_lines []
let next = ref 0
let line () = let l = lines.(!next) in incr next; l
let after start =
  let l = line () in
  let n = String.length start in
  if String.length l < n || String.sub l 0 n <> start then fail !next ("'" ^ start ^ " ...' must come here");
  String.trim (String.sub l n (String.length l - n))

let words text = List.filter (fun w -> w <> "") (String.split_on_char ' ' text)
let square c = match c with '0' .. '9' -> Char.code c - 48 | 'a' .. 'f' -> Char.code c - 87 | _ -> fail !next "no square"

(* The tree at [path], if the next line is about it. *)
let rec tree path =
  match if !next < Array.length lines then words lines.(!next) else [] with
  | here :: actions when here = path ->
      incr next;
      let played = List.map (fun w -> (w.[0], z_of (String.sub w 2 (String.length w - 2)))) actions in
      let subtrees = List.map (fun (c, w) ->
        let failed = tree (path ^ String.make 1 c ^ ".") in
        let placed = tree (path ^ String.make 1 c ^ "*") in
        (square c, w, failed, placed)) played in
      List.fold_right (fun (s, w, failed, placed) rest -> Act (s, w, failed, placed, rest, Unknown)) subtrees Stop
  | _ -> Stop

let () =
  ignore (after "phantom certificate 1");
  let squares = int_of_string (after "squares") in
  let classical = after "turns" = "classical" in
  let squares_of text = List.map square (List.of_seq (String.to_seq text)) in
  let sets p = List.map squares_of (words (after p)) in
  let zero_wins = sets "wins 0" in
  let one_wins = sets "wins 1" in
  (* Marks that lie before the game: both lines, or none. *)
  let marked = !next < Array.length lines && String.starts_with ~prefix:"setup" lines.(!next) in
  let digits p = if marked then after p else "" in
  let setup_0 = digits "setup 0" in
  let setup_1 = digits "setup 1" in
  let begins = !next in
  let claim = after "claim" in
  let plan p marks = ignore (after p); tree (String.fold_left (fun path c -> path ^ String.make 1 c ^ "*") "|" marks) in
  let zero = plan "plan 0" setup_0 in
  let one = plan "plan 1" setup_1 in
  ignore (after "end");
  if !next <> Array.length lines then fail !next "nothing comes after 'end'";
  let rules = { squares; classical;
                setup = (function Zero -> squares_of setup_0 | One -> squares_of setup_1);
                winning_sets = (function Zero -> zero_wins | One -> one_wins) } in
  match bounds rules zero one with
  | None -> fail !next "a plan is not in order"
  | Some (low, high) ->
      let told q = let q = qred q in
        text_of q.qnum ^ (if q.qden = XH then "" else "/" ^ decimal_of q.qden) in
      let low = told low and high = told high in
      if claim <> low ^ " <= value <= " ^ high then
        fail !next (Printf.sprintf "proven is only %s <= value <= %s" low high);
      for k = 1 to begins - 1 do print_endline lines.(k) done;
      print_endline ("proven: " ^ if low = high then "value = " ^ low else claim)
